// SPDX-License-Identifier: GPL-2.0
// Purpose: where a queue fetches its packets: a ring, an indirect buffer called from it (IB1), and
// one that is called from that (IB2). MEC and SDMA have no IB2, and nobody has more levels: deeper
// one can only chain, which replaces the buffer (so one that jumps to itself costs budget, never
// memory). Thread: device loop only. Does not model: prefetch. A packet is read when it is
// executed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "gpu-emu/mem/gpu_memory.h"

namespace gpuemu {

class PacketStream {
public:
    struct Ib {
        uint64_t address = 0;
        uint32_t dwords = 0;
        unsigned vmid = 0;
    };

    /// A ring of `dwords` (a power of two). Pointers count dwords and never wrap; the ring position
    /// is their low part.
    void set_ring(uint64_t base, uint64_t dwords, unsigned vmid);
    void set_pointers(uint64_t rptr, uint64_t wptr);

    /// More than a ring full cannot be pending: what is beyond counts modulo the ring, as the
    /// hardware compares.
    void set_wptr(uint64_t wptr);

    uint64_t base() const { return base_; }
    uint64_t ring_dwords() const { return dwords_; }
    uint64_t rptr() const { return rptr_; }
    uint64_t wptr() const { return wptr_; }
    uint64_t ring_position() const { return dwords_ == 0 ? 0 : rptr_ & (dwords_ - 1); }

    bool in_ib() const { return ib_.has_value(); }
    bool in_ib2() const { return caller_.has_value(); }
    bool empty() const { return !ib_ && rptr_ == wptr_; }
    unsigned vmid() const { return ib_ ? ib_->vmid : vmid_; }

    /// Dwords left on the level that is being executed.
    uint64_t available() const { return ib_ ? ib_->dwords : wptr_ - rptr_; }

    /// Reads `out.size()` dwords, `offset` dwords on, without consuming them. False on a fault or
    /// beyond available().
    bool fetch(GpuMemory& memory, Hub hub, uint64_t offset, std::span<uint32_t> out) const;

    /// Consumes up to available() dwords. An indirect buffer that is used up is left.
    void skip(uint64_t dwords);

    /// Enters an indirect buffer behind what was consumed, instead of the one that is executed. An
    /// empty one is not entered.
    void enter(const Ib& ib);
    /// The same, and comes back to what is left of the one that is executed. Not inside an IB2.
    void call(const Ib& ib);
    void leave_ib();

    /// A packet of `dwords` is longer than what is available. True: it will never be complete, and
    /// the rest of its level was thrown away. False: the ring may still get it.
    bool drop_if_endless(uint64_t dwords);

    /// What is left of the indirect buffer, for preemption.
    const std::optional<Ib>& ib() const { return ib_; }

private:
    uint64_t base_ = 0;
    uint64_t dwords_ = 0;
    uint64_t rptr_ = 0;
    uint64_t wptr_ = 0;
    unsigned vmid_ = 0;
    std::optional<Ib> ib_;
    std::optional<Ib> caller_;  // while ib_ is an IB2 that comes back
};

}  // namespace gpuemu
