// SPDX-License-Identifier: GPL-2.0
// Purpose: one mapped compute queue (KIQ, KCQ, HIQ or a user's): what the MEC knows of it while it
// runs; or a graphics queue, whose slot is one of ME0 (me.h). Thread: device loop only. Does not
// model: priorities and quanta; all queues take turns.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "gpu-emu/hostile/mutator.h"
#include "gpu-emu/ip/cp/hqd_bank.h"
#include "gpu-emu/ip/interrupt_sink.h"
#include "gpu-emu/ip/queue/packet_stream.h"
#include "gpu-emu/ip/queue/port.h"
#include "gpu-emu/ip/queue/queue_owner.h"

namespace gpuemu {

/// ivsrcid/gfx/irqsrcs_gfx_9_0.h: a job is done.
inline constexpr uint8_t GFX_9_0__SRCID__CP_EOP_INTERRUPT = 181;

class ComputeQueue {
public:
    /// `hub`: of its XCC. `ih_node`: NODE_ID of its interrupts.
    ComputeQueue(unsigned slot, Hub hub, uint8_t ih_node)
        : slot_(slot), hub_(hub), ih_node_(ih_node) {}

    /// Begins to run what the registers describe.
    void activate(const HqdBank::Registers& hqd, const QueueOwner& owner);

    /// Stops; what is not done is put into `hqd`, so that activate() can go on there.
    void deactivate(HqdBank::Registers& hqd);

    /// A doorbell or a polled write pointer: dwords for PM4, last packet's index for AQL.
    void ring(uint64_t doorbell_value);
    void set_write_index(uint64_t wptr);

    /// RING_ID of an interrupt of this queue.
    uint8_t ring_id() const;
    InterruptEntry interrupt(uint8_t source_id, uint32_t context_id) const;

    /// Tells memory how far the queue got, if that changed.
    void report_rptr(GpuMemory& memory, Mutator& mutator);

    unsigned slot() const { return slot_; }
    unsigned me() const { return slot_ / HqdBank::slots_per_me; }
    unsigned pipe() const { return slot_ / HqdBank::queues_per_pipe % HqdBank::pipes; }
    unsigned index() const { return slot_ % HqdBank::queues_per_pipe; }
    bool active() const { return active_; }
    bool aql() const { return aql_; }
    bool has_work() const { return active_ && !stream.empty(); }
    unsigned vmid() const { return vmid_; }
    std::optional<uint32_t> doorbell() const { return doorbell_; }
    const QueueOwner& owner() const { return owner_; }

    /// Read and write pointer as registers show them: PM4 dwords, AQL packets for the latter.
    uint32_t rptr_register() const { return static_cast<uint32_t>(stream.rptr()); }
    uint64_t wptr_register() const;

    /// How far it got, to compare it with the same queue at another XCC. Inside a PM4 buffer that
    /// is behind the packet that called it, in front of one of AQL.
    std::pair<uint64_t, int64_t> position() const;

    /// Changes whenever the queue is mapped or unmapped: a packet may do that to its own queue.
    uint32_t epoch() const { return epoch_; }

    PacketStream stream;
    uint64_t progress = 0;  // of the packet at the front

private:
    unsigned slot_;
    Hub hub_;
    uint8_t ih_node_;
    bool active_ = false;
    bool aql_ = false;
    bool reports_rptr_ = false;
    unsigned vmid_ = 0;
    uint64_t rptr_report_ = 0;
    uint64_t reported_ = 0;
    std::optional<uint32_t> doorbell_;
    QueueOwner owner_;
    uint32_t epoch_ = 0;
};

}  // namespace gpuemu
