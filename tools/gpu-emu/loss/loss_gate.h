// SPDX-License-Identifier: GPL-2.0
// Purpose: stands between a PCI function and its host, in both directions, and does two things: it
// makes the function go away (and come back) as real hardware does, and it is the witness of every
// access. Thread: device loop only. Does not model: VRAM that the client has mapped: accesses to it
// are not seen, and while `flaky` lasts they go through.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "gpu-emu/device/engine_scheduler.h"
#include "gpu-emu/pci/pci_function.h"
#include "gpu-emu/witness/access_trace.h"
#include "gpu-emu/witness/trace_format.h"
#include "lib/event_loop.h"
#include "lib/result.h"

namespace gpuemu {

/// Counts by TraceKind; accesses only.
using AccessCounters = std::array<uint64_t, access_kinds>;

/// One access of the driver or of an engine.
struct Access {
    TraceKind kind;
    uint8_t region;
    uint64_t offset;
};

/// How the function vanished.
struct Vanishing {
    uint64_t accesses = 0;  // since the client attached
    /// Of the accesses that vanish_after() counted, if it was asked for: how many there were, and
    /// what they were, in their order. Equal digests stand for equal sequences of kinds, regions
    /// and offsets; values and DMA addresses, which are the guest's allocations, are not in them.
    struct Prefix {
        uint64_t accesses = 0;
        uint64_t digest = 0;
        uint64_t cpu_digest = 0;  // without DMA, whose place among the CPU's accesses is a race
    };
    std::optional<Prefix> prefix;
    std::optional<Access> at;  // the access that found nobody; none: the client asked
};

/// Who wants to know of coming and going.
class LossObserver {
public:
    virtual ~LossObserver() = default;
    virtual void attached() = 0;
    virtual void detached() = 0;
    virtual void vanished(const Vanishing& how) = 0;
    virtual void restored() = 0;
};

class LossGate : public PciFunction, private PciHost {
public:
    enum class State {
        present,
        ones,  // gone: reads are ones, writes, DMA and interrupts are lost
        hung,  // engines stand still, registers answer
    };

    struct FirstAccess {
        uint64_t since_loss_ns;
        TraceKind kind;
        uint8_t region;
        uint64_t offset;
    };
    static constexpr size_t first_accesses_kept = 32;

    struct Options {
        AccessTrace* trace = nullptr;     // outlives the gate
        std::function<void()> on_vanish;  // makes mapped VRAM read as ones
        /// Whether the function is there for others than its host: attached and not gone. Called
        /// when that changes, before on_vanish.
        std::function<void(bool)> on_presence = {};
        std::function<void()> on_restore = {};  // another board: what was wrong with this one ends
        bool config_survives =
            false;  // while gone, config space works on: the black hole, which is born gone
    };

    /// The first three outlive the gate.
    LossGate(PciFunction& function, EngineScheduler& engines, hp::EventLoop& loop, Options options);

    void set_observer(LossObserver* observer) { observer_ = observer; }

    // --- what the control socket asks for

    void vanish();
    /// Present again after a cold reset, as a board that was put back. If a client is attached it
    /// gets a new device.
    void restore();
    hp::Result<void> hang();
    hp::Result<void> resume();
    /// Gone for that long, and then as before.
    hp::Result<void> flaky(std::chrono::milliseconds duration);
    void drop_interrupts(uint64_t count) { drop_interrupts_ = count; }
    void duplicate_interrupts(uint64_t count) { duplicate_interrupts_ = count; }
    void set_delay(std::chrono::microseconds delay) { delay_ = delay; }
    /// Vanishes right before the `accesses`-th access to come: MMIO, doorbells and DMA count. 0
    /// disarms.
    void vanish_after(uint64_t accesses);
    /// As vanish_after(), from the next reset of the function by its driver on: 1 is the first
    /// access behind it. 0 disarms.
    void vanish_after_reset(uint64_t accesses) { vanish_after_reset_ = accesses; }
    /// Vanishes once the host has put the function into D3hot: a board that is taken out of a
    /// machine that sleeps.
    void vanish_asleep();
    /// Vanishes behind the host's next read of config space that begins at `offset`: a function
    /// without a driver is left awake when the machine sleeps, but its header is saved, 0x3c last.
    void vanish_after_config(uint64_t offset) { vanish_after_config_ = offset; }
    /// The function's part of vanish_after_reset(): its driver has reset it.
    void function_reset();
    /// From now on `after_loss` counts, and FirstAccess::since_loss_ns is measured, from here: a
    /// black hole is gone from its first moment, and learns in this way that it stands for a loss.
    void reset_counters();

    State state() const { return state_; }
    bool attached() const { return host_ != nullptr; }
    uint64_t attachments() const { return attachments_; }
    std::chrono::microseconds delay() const { return delay_; }
    const AccessCounters& total() const { return total_; }
    /// Since the function last vanished and while it is gone.
    const AccessCounters& after_loss() const { return after_loss_; }
    /// Without config space, which the PCI core reads a lot, and rightly, to find out that nobody
    /// is there.
    const std::vector<FirstAccess>& first_after_loss() const { return first_after_loss_; }
    /// When the function last vanished; CLOCK_MONOTONIC.
    uint64_t lost_at_ns() const { return lost_at_ns_; }

    // --- PciFunction

    RegionInfo region_info(Region region) const override { return function_.region_info(region); }
    unsigned msi_vectors() const override { return function_.msi_vectors(); }
    void read(Region region, uint64_t offset, std::span<std::byte> out) override;
    void write(Region region, uint64_t offset, std::span<const std::byte> in) override;
    void attach(PciHost& host) override;
    void detach() override;
    void reset() override;
    bool asleep() const override { return function_.asleep(); }

private:
    std::span<std::byte> dma(uint64_t iova, uint64_t length, DmaAccess access) override;
    void raise_msi(unsigned vector) override;

    bool lost() const { return state_ == State::ones; }
    bool answers(Region region) const {
        return !lost() || (options_.config_survives && region == Region::config);
    }
    void set_state(State state, TraceKind event);
    void tell_presence();
    void lose(std::optional<Access> at = std::nullopt);
    void vanish_at(std::optional<Access> at);
    void step(const Access& access);
    void fall_asleep();
    void witness(TraceKind kind, Region region, uint64_t offset, std::span<const std::byte> data);
    void count(TraceKind kind, uint8_t region, uint64_t offset, uint64_t value, uint32_t size);
    void trace(TraceKind kind, uint8_t region, uint64_t offset, uint64_t value, uint32_t size);

    PciFunction& function_;
    EngineScheduler& engines_;
    hp::EventLoop& loop_;
    Options options_;
    LossObserver* observer_ = nullptr;
    PciHost* host_ = nullptr;

    State state_ = State::present;
    State before_flaky_ = State::present;
    hp::EventLoop::Handle flaky_end_;
    std::chrono::microseconds delay_{0};
    uint64_t drop_interrupts_ = 0;
    uint64_t duplicate_interrupts_ = 0;
    uint64_t vanish_after_ = 0;
    uint64_t vanish_after_reset_ = 0;
    bool vanish_asleep_ = false;
    std::optional<uint64_t> vanish_after_config_;
    bool present_ = false;                     // as on_presence was told
    std::optional<Vanishing::Prefix> prefix_;  // while vanish_after() is awaited

    uint64_t attachments_ = 0;
    uint64_t accesses_ = 0;  // since the client attached: those that vanish_after() counts
    uint64_t lost_at_ns_ = 0;
    AccessCounters total_{};
    AccessCounters after_loss_{};
    std::vector<FirstAccess> first_after_loss_;
};

}  // namespace gpuemu
