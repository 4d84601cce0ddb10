// SPDX-License-Identifier: GPL-2.0
// Thread: device loop only.
#include "gpu-emu/ip/cp/me.h"

#include <fmt/format.h>

#include <array>

#include "gpu-emu/ip/gc_layout.h"
#include "gpu-emu/ip/queue/take_turns.h"
#include "gpu-emu/ip/regs/gc_10_3_0.h"

namespace gpuemu {

namespace gc = gc_9_4_3;

namespace {

constexpr unsigned me0 = 0;

// struct v10_gfx_mqd (drivers/gpu/drm/amd/include/v10_structs.h), in dwords from cp_mqd_base_addr
// on: up to cp_gfx_hqd_cntl in the order of the HQD window of a compute queue and with the same
// fields, the write pointer elsewhere.
constexpr uint64_t mqd_offset = 128 * sizeof(uint32_t);
constexpr uint32_t cp_gfx_hqd_active = 0x02, cp_gfx_hqd_rptr = 0x0a, cp_gfx_hqd_cntl = 0x11,
                   cp_gfx_hqd_wptr = 0x15;
constexpr uint32_t mqd_dwords = cp_gfx_hqd_wptr + 2;

}  // namespace

Me::Me(const EngineContext& context) : context_(context), pm4_(context, unhandled_) {
    for (unsigned pipe = 0; pipe < pipes; ++pipe) {
        for (unsigned queue = 0; queue < queues_per_pipe; ++queue) {
            queues_.emplace_back(HqdBank::slot(me0, pipe, queue), context.gfx_hub(),
                                 gc_layout(context.profile, context.xcc).ih_node);
        }
    }
    const uint32_t vmid_reset = at(context.profile.ip(HwId::GC), gc_10_3_0::mmCP_VMID_RESET);
    context.registers.declare(vmid_reset, 1,
                              {.type = trigger, .written = [this](uint32_t, uint32_t request) {
                                   reset_queues(request);
                               }});
}

Engine::Turn Me::run(Budget& budget) {
    return take_turns(std::span(queues_), next_, budget, context_.memory, context_.mutator,
                      [&](ComputeQueue& queue) { return pm4_.step(queue, budget); });
}

bool Me::ring_doorbell(uint32_t index, uint64_t value) {
    bool owned = false;
    for (ComputeQueue& queue : queues_) {
        if (queue.active() && queue.doorbell() == index) {
            queue.ring(value);
            owned = true;
        }
    }
    if (owned) {
        context_.kicker.kick(*this);
    }
    return owned;
}

bool Me::map(unsigned pipe, unsigned queue, const MapRequest& request) {
    if (pipe >= pipes || queue >= queues_per_pipe) {
        return false;
    }
    std::array<uint32_t, mqd_dwords> mqd{};
    const Port port{context_.memory, context_.gfx_hub(), 0};
    if (!port.read(request.owner.mqd + mqd_offset, std::as_writable_bytes(std::span(mqd)))) {
        return false;
    }
    HqdBank::Registers hqd;
    for (uint32_t dword = 0; dword <= cp_gfx_hqd_cntl; ++dword) {
        hqd.at(dword) = mqd[dword];
    }
    hqd.set_pair(gc::regCP_HQD_PQ_WPTR_LO, join(mqd[cp_gfx_hqd_wptr], mqd[cp_gfx_hqd_wptr + 1]));
    uint32_t& doorbell = hqd[gc::regCP_HQD_PQ_DOORBELL_CONTROL];
    doorbell = gc::CP_HQD_PQ_DOORBELL_CONTROL__DOORBELL_OFFSET::set(doorbell, request.doorbell);
    doorbell = gc::CP_HQD_PQ_DOORBELL_CONTROL__DOORBELL_EN::set(doorbell, 1);
    queues_[pipe * queues_per_pipe + queue].activate(hqd, request.owner);
    context_.kicker.kick(*this);
    return true;
}

void Me::unmap_queues(const QueueSelector& selected) {
    for (ComputeQueue& queue : queues_) {
        if (!queue.active() || !selected(queue.owner(), queue.doorbell())) {
            continue;
        }
        const uint64_t mqd = queue.owner().mqd + mqd_offset;
        HqdBank::Registers hqd;
        queue.deactivate(hqd);
        // On a fault the MQD keeps its old pointers, as that of a compute queue does.
        const Port port{context_.memory, context_.gfx_hub(), 0};
        port.write32(mqd + cp_gfx_hqd_rptr * sizeof(uint32_t), hqd[gc::regCP_HQD_PQ_RPTR]);
        port.write32(mqd + cp_gfx_hqd_wptr * sizeof(uint32_t), hqd[gc::regCP_HQD_PQ_WPTR_LO]);
        port.write32(mqd + (cp_gfx_hqd_wptr + 1) * sizeof(uint32_t), hqd[gc::regCP_HQD_PQ_WPTR_HI]);
    }
}

void Me::reset_queues(uint32_t cp_vmid_reset) {
    const std::array<uint32_t, pipes> selected = {
        gc_10_3_0::CP_VMID_RESET__PIPE0_QUEUES::get(cp_vmid_reset),
        gc_10_3_0::CP_VMID_RESET__PIPE1_QUEUES::get(cp_vmid_reset)};
    for (ComputeQueue& queue : queues_) {
        if (!queue.active() || (selected[queue.pipe()] >> queue.index() & 1) == 0) {
            continue;
        }
        const uint64_t mqd = queue.owner().mqd + mqd_offset;
        HqdBank::Registers hqd;
        queue.deactivate(hqd);
        // gfx_v10_0_reset_kgq() waits for this. Out of reach it waits until it gives up.
        const Port port{context_.memory, context_.gfx_hub(), 0};
        port.write32(mqd + cp_gfx_hqd_active * sizeof(uint32_t), 0);
    }
}

void Me::reset() {
    for (ComputeQueue& queue : queues_) {
        HqdBank::Registers hqd;
        queue.deactivate(hqd);
    }
    next_ = 0;
}

std::string Me::describe() const {
    std::string lines;
    for (const ComputeQueue& queue : queues_) {
        if (queue.active()) {
            lines +=
                fmt::format("me pipe {} queue {} doorbell {:#x} rptr {} wptr {}{}\n", queue.pipe(),
                            queue.index(), queue.doorbell().value_or(0), queue.stream.rptr(),
                            queue.stream.wptr(), queue.stream.in_ib() ? " in indirect buffer" : "");
        }
    }
    return lines + unhandled_.describe();
}

}  // namespace gpuemu
