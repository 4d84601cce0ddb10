// SPDX-License-Identifier: GPL-2.0
// Purpose: when a device is lost by itself: at its k-th access, at a register, behind a reset, a
// read of configuration space, or once it sleeps; and the digest of the accesses until then, which
// says whether two losses were the same. Thread: device loop only.
#pragma once

#include <cstdint>
#include <optional>

#include "gpu-emu/pci/pci_function.h"
#include "gpu-emu/witness/trace_format.h"

namespace gpuemu {

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
        uint64_t cpu_digest =
            0;  // without DMA writes, whose place among the CPU's accesses is a race
    };
    std::optional<Prefix> prefix;
    std::optional<Access> at;  // the access that found nobody; none: the client asked
};

class LossTriggers {
public:
    // --- what is waited for; each replaces what was asked before, and the loss ends them all

    /// The device vanishes right before the `accesses`-th access to come: MMIO, doorbells and what
    /// the engines write count. 0 disarms.
    void vanish_after(uint64_t accesses);
    /// As vanish_after(), from the next reset of the function by its driver on: 1 is the first
    /// access behind it. 0 disarms.
    void vanish_after_reset(uint64_t accesses) { vanish_after_reset_ = accesses; }
    /// Vanishes once the host has put the function into D3hot: a board that is taken out of a
    /// machine that sleeps.
    void vanish_asleep() { vanish_asleep_ = true; }
    /// Vanishes behind the host's next read of config space that begins at `offset`: a function
    /// without a driver is left awake when the machine sleeps, but its header is saved, 0x3c last.
    void vanish_after_config(uint64_t offset) { vanish_after_config_ = offset; }
    /// Vanishes right before the next read of the register at `offset` of BAR5, which is ones then,
    /// however many accesses come before it.
    void vanish_at_read(uint64_t offset) { vanish_at_read_ = offset; }

    // --- what happens; those that answer say whether the device is gone by it

    void attached() { accesses_ = 0; }
    void function_reset();
    /// Before the access is made: if the answer is yes, vanished() is next and counted() behind it.
    bool due_at(const Access& access);
    void counted(const Access& access);
    bool due_behind_config_read(uint64_t offset) const { return vanish_after_config_ == offset; }
    bool due_asleep() const { return vanish_asleep_; }

    /// The device is gone, at that access if it was one. Nothing is waited for any more.
    Vanishing vanished(std::optional<Access> at);

    /// Since the client attached: those that vanish_after() counts.
    uint64_t accesses() const { return accesses_; }

private:
    uint64_t vanish_after_ = 0;
    uint64_t vanish_after_reset_ = 0;
    bool vanish_asleep_ = false;
    std::optional<uint64_t> vanish_after_config_;
    std::optional<uint64_t> vanish_at_read_;
    std::optional<Vanishing::Prefix> prefix_;  // while vanish_after() is awaited
    uint64_t accesses_ = 0;
};

}  // namespace gpuemu
