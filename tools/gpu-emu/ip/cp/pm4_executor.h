// SPDX-License-Identifier: GPL-2.0
// Purpose: carries out PM4 packets of compute and graphics queues.
// Thread: device loop only.
// Does not model: caches and TLBs (their packets are done at once), INDEX of SET_*_REG_INDEX (of
// all shader engines what the first gets), dispatches (complete without
// running), draws, the constant engine and its buffers, GDS, predication, GFX state beyond storing
// registers. An unprivileged buffer (VMID other than 0) reaches shader registers only, and no
// scheduler packet.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "gpu-emu/device/engine.h"
#include "gpu-emu/ip/cp/compute_queue.h"
#include "gpu-emu/ip/cp/hws.h"
#include "gpu-emu/ip/cp/pm4.h"
#include "gpu-emu/ip/gc_layout.h"
#include "gpu-emu/ip/queue/context.h"
#include "gpu-emu/ip/queue/port.h"
#include "gpu-emu/ip/queue/step.h"
#include "gpu-emu/ip/queue/unhandled_packets.h"

namespace gpuemu {

class Pm4Executor {
public:
    /// Of the MEC: its firmware carries out the packets of the scheduler, too.
    Pm4Executor(const EngineContext& context, Hws& hws, UnhandledPackets& unhandled);
    /// Of a micro engine that has no scheduler: to it those are unknown packets.
    Pm4Executor(const EngineContext& context, UnhandledPackets& unhandled);

    /// The packet at the front of the queue, consumed when it is done.
    Step step(ComputeQueue& queue, Budget& budget);

private:
    using Body = std::span<const uint32_t>;
    using Handler = Step (Pm4Executor::*)(ComputeQueue& queue, Body body, Budget& budget);
    struct Entry {
        Handler handler = nullptr;
        uint32_t body_dwords = 0;  // at least
        bool privileged = false;   // VMID 0 only
    };

    void add(pm4::Opcode opcode, Handler handler, uint32_t body_dwords, bool privileged = false);
    Step execute(ComputeQueue& queue, uint32_t header, Body body, Budget& budget);
    Step fetch_failed(ComputeQueue& queue);

    // Handlers, each named after its PACKET3_*.
    Step nop(ComputeQueue& queue, Body body, Budget& budget);
    Step set_config_reg(ComputeQueue& queue, Body body, Budget& budget);
    Step set_context_reg(ComputeQueue& queue, Body body, Budget& budget);
    Step set_sh_reg(ComputeQueue& queue, Body body, Budget& budget);
    Step set_uconfig_reg(ComputeQueue& queue, Body body, Budget& budget);
    Step write_data(ComputeQueue& queue, Body body, Budget& budget);
    Step wait_reg_mem(ComputeQueue& queue, Body body, Budget& budget);
    Step indirect_buffer(ComputeQueue& queue, Body body, Budget& budget);
    Step copy_data(ComputeQueue& queue, Body body, Budget& budget);
    Step release_mem(ComputeQueue& queue, Body body, Budget& budget);
    Step dma_data(ComputeQueue& queue, Body body, Budget& budget);
    Step atomic_mem(ComputeQueue& queue, Body body, Budget& budget);
    Step cond_exec(ComputeQueue& queue, Body body, Budget& budget);
    Step pred_exec(ComputeQueue& queue, Body body, Budget& budget);
    Step set_resources(ComputeQueue& queue, Body body, Budget& budget);
    Step map_process(ComputeQueue& queue, Body body, Budget& budget);
    Step map_queues(ComputeQueue& queue, Body body, Budget& budget);
    Step unmap_queues(ComputeQueue& queue, Body body, Budget& budget);
    Step query_status(ComputeQueue& queue, Body body, Budget& budget);
    Step run_list(ComputeQueue& queue, Body body, Budget& budget);
    Step invalidate_tlbs(ComputeQueue& queue, Body body, Budget& budget);

    void set_registers(ComputeQueue& queue, const pm4::RegisterSpace& space, Body body,
                       pm4::Opcode opcode, Budget& budget);
    bool may_access(const ComputeQueue& queue, uint32_t dword) const;
    uint32_t read_register(uint32_t dword) const;
    /// False: the rest of the packet must not be carried out.
    bool write_register(ComputeQueue& queue, uint32_t dword, uint32_t value, pm4::Opcode opcode,
                        Budget& budget);
    bool refuse_register(const ComputeQueue& queue, pm4::Opcode opcode);
    Port port(const ComputeQueue& queue) const;

    const EngineContext& context_;
    Hws* hws_ = nullptr;
    UnhandledPackets& unhandled_;
    std::array<Entry, 256> table_;
    std::array<uint32_t, pm4::max_packet_dwords> packet_{};  // the one being executed
    GcLayout gc_;

    /// What the packet in execution asks to be skipped or entered behind itself.
    uint32_t skip_behind_ = 0;
    std::optional<PacketStream::Ib> enter_behind_;
    bool comes_back_ = false;  // from there to the buffer that is executed
};

}  // namespace gpuemu
