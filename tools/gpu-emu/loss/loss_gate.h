// SPDX-License-Identifier: GPL-2.0
// Purpose: stands between a PCI function and its host, in both directions, and does two things: it
// makes the function go away (and come back) as real hardware does, as LossState and LossTriggers
// say, and it is the witness of every access. Thread: device loop only. Does not model: VRAM that
// the client has mapped: accesses to it are not seen, and while `flaky` lasts they go through.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "gpu-emu/device/engine_scheduler.h"
#include "gpu-emu/loss/loss_state.h"
#include "gpu-emu/loss/loss_triggers.h"
#include "gpu-emu/pci/pci_function.h"
#include "gpu-emu/witness/access_trace.h"
#include "gpu-emu/witness/trace_format.h"
#include "lib/event_loop.h"
#include "lib/result.h"
#include "lib/thread_rule.h"

namespace gpuemu {

/// Counts by TraceKind; accesses only.
using AccessCounters = std::array<uint64_t, access_kinds>;

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
    using State = LossState::Kind;

    struct FirstAccess {
        uint64_t since_loss_ns;
        TraceKind kind;
        uint8_t region;
        uint64_t offset;
    };
    static constexpr size_t first_accesses_kept = 32;

    /// DMA of the function to where its host has offered it nothing, or nothing to write to: what
    /// an IOMMU refuses, and without one memory that is not there.
    struct StrayDma {
        struct First {
            uint64_t time_ns;
            DmaAccess access;
            uint64_t address;
            uint64_t length;
        };
        uint64_t count = 0;
        std::vector<First> first;  // as many as first_accesses_kept
    };

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
    /// Its engines stand still until resume() or a reset by its driver; for good: no reset helps.
    hp::Result<void> hang(bool for_good = false);
    hp::Result<void> resume();
    /// EngineScheduler::set_lateness(), until another board is there.
    void set_lateness(std::chrono::microseconds lateness, std::string_view names = {}) {
        engines_.set_lateness(lateness, names);
    }
    /// Gone for that long, and then as before.
    hp::Result<void> flaky(std::chrono::milliseconds duration);
    /// The same, and meanwhile configuration space says Request Retry Status, as a port with RRS
    /// Software Visibility shows it (PCIe r6.0, sec 2.3.2): of a read that includes the Vendor ID
    /// the first two bytes are 0001h and the others ones. Does not model that the port repeats
    /// reads of anything else: they are ones.
    hp::Result<void> not_ready(std::chrono::milliseconds duration);
    /// LossTriggers::vanish_asleep(), for a function that may sleep already.
    void vanish_asleep();
    /// The function's part of vanish_after_reset(): its driver has asked for a reset of it.
    void function_reset_asked() { triggers_.function_reset(); }
    /// The driver's reset was carried out, which ends what a reset helps against.
    void function_reset_done();
    /// From now on `after_loss` counts, and FirstAccess::since_loss_ns is measured, from here: a
    /// black hole is gone from its first moment, and learns in this way that it stands for a loss.
    void reset_counters();

    /// Interrupts and delays are lost by what is asked of it.
    LossState& loss() { return loss_; }
    const LossState& loss() const { return loss_; }
    LossTriggers& triggers() { return triggers_; }

    State state() const { return loss_.kind(); }
    bool attached() const { return host_ != nullptr; }
    uint64_t attachments() const { return attachments_; }
    const AccessCounters& total() const { return total_; }
    /// Since the function last vanished and while it is gone.
    const AccessCounters& after_loss() const { return after_loss_; }
    /// Without config space, which the PCI core reads a lot, and rightly, to find out that nobody
    /// is there.
    const std::vector<FirstAccess>& first_after_loss() const { return first_after_loss_; }
    /// Since the process began: no reset of counters, and no other client or board ends it.
    const StrayDma& stray_dma() const { return stray_dma_; }

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
    bool raise_msi(unsigned vector) override;

    bool lost() const { return loss_.lost(); }
    bool answers(Region region) const {
        return !lost() || (options_.config_survives && region == Region::config);
    }
    void tell_state(TraceKind event);
    void tell_presence();
    void answer_for_lost(Region region, uint64_t offset, std::span<std::byte> out) const;
    void lose(std::optional<Access> at = std::nullopt);
    void vanish_at(std::optional<Access> at);
    void step(const Access& access);
    void fall_asleep();
    void witness(TraceKind kind, Region region, uint64_t offset, std::span<const std::byte> data);
    void count(TraceKind kind, uint8_t region, uint64_t offset, uint64_t value, uint32_t size);
    void trace(TraceKind kind, uint8_t region, uint64_t offset, uint64_t value, uint32_t size);
    void note_stray(uint64_t iova, uint64_t length, DmaAccess access);

    PciFunction& function_;
    EngineScheduler& engines_;
    hp::EventLoop& loop_;
    Options options_;
    LossObserver* observer_ = nullptr;
    PciHost* host_ = nullptr;

    LossState loss_;
    LossTriggers triggers_;
    hp::EventLoop::Handle flaky_end_;
    bool present_ = false;  // as on_presence was told

    uint64_t attachments_ = 0;
    AccessCounters total_{};
    AccessCounters after_loss_{};
    std::vector<FirstAccess> first_after_loss_;
    StrayDma stray_dma_;
    hp::ThreadRule thread_;
};

}  // namespace gpuemu
