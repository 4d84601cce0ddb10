// SPDX-License-Identifier: GPL-2.0
// Thread: device loop only.
#include "gpu-emu/ip/cp/mec.h"

#include <fmt/format.h>

#include <utility>

#include "gpu-emu/ip/gc_layout.h"
#include "gpu-emu/ip/queue/take_turns.h"
#include "gpu-emu/ip/regs/gc_9_4_3.h"

namespace gpuemu {

Mec::Mec(const EngineContext& context, XccGroup& xccs, Me* me, std::span<SdmaEngine* const> sdma)
    : context_(context),
      xccs_(xccs),
      name_(context.profile.working(HwId::GC).size() == 1 ? "mec"
                                                          : fmt::format("mec{}", context.xcc)),
      unhandled_(name_),
      slots_(context),
      hws_(context, xccs, slots_, me, sdma, unhandled_),
      pm4_(context, hws_, unhandled_),
      aql_(context, unhandled_) {
    claim_registers();
    xccs.add(gc_layout(context.profile, context.xcc), *this, slots_);
}

void Mec::claim_registers() {
    RegisterFile& registers = context_.registers;
    const GcLayout gc = gc_layout(context_.profile, context_.xcc);
    registers.declare(slots_.first_dword(), HqdBank::window,
                      {.read = [this](uint32_t dword) { return slots_.read(dword); },
                       .written =
                           [this](uint32_t dword, uint32_t value) {
                               slots_.write(dword, value);
                               context_.kicker.kick(*this);
                           }});
    registers.declare(at(gc.ip, gc.CP_PQ_WPTR_POLL_CNTL1), 1,
                      {.written = [this](uint32_t, uint32_t value) {
                          slots_.poll_wptr(value);
                          context_.kicker.kick(*this);
                      }});
    registers.declare(at(gc.ip, gc.CP_MEC_CNTL), 1,
                      {.written = [this](uint32_t, uint32_t value) { slots_.reset_pipes(value); }});
}

Engine::Turn Mec::run(Budget& budget) {
    const uint32_t activations = slots_.activations();
    const Turn result =
        take_turns(slots_.queues(), next_, budget, context_.memory, context_.mutator,
                   [&](ComputeQueue& queue) { return step(queue, budget); });
    // A run list may have mapped queues that were passed before.
    return slots_.activations() == activations ? result : Turn::more;
}

Step Mec::step(ComputeQueue& queue, Budget& budget) {
    if (queue.owner().role == QueueRole::alone) {
        return carry_out(queue, budget);
    }
    // A buffer that an AQL packet calls is a part of that packet.
    if (!(queue.aql() && queue.stream.in_ib()) && !xccs_.may_go_on(context_.xcc, queue)) {
        return Step::wait;
    }
    const Step result = carry_out(queue, budget);
    if (result == Step::done) {
        xccs_.went_on(context_.xcc);
    }
    return result;
}

Step Mec::carry_out(ComputeQueue& queue, Budget& budget) {
    if (!queue.aql()) {
        return pm4_.step(queue, budget);
    }
    if (!queue.stream.in_ib()) {
        return aql_.step(queue, budget);
    }
    const uint32_t epoch = queue.epoch();
    const Step result = pm4_.step(queue, budget);
    if (queue.epoch() == epoch && !queue.stream.in_ib()) {
        aql_.complete(queue);
    }
    return result;
}

bool Mec::in_range(uint32_t doorbell) const {
    using Range = gc_9_4_3::CP_MEC_DOORBELL_RANGE__DOORBELL_RANGE;  // GC 10.3.0's is the same
    const GcLayout gc = gc_layout(context_.profile, context_.xcc);
    const auto end = [&](Reg reg) {
        return Range::get(std::as_const(context_.registers).raw(at(gc.ip, reg)));
    };
    return doorbell >= end(gc.CP_MEC_DOORBELL_RANGE_LOWER) &&
           doorbell <= end(gc.CP_MEC_DOORBELL_RANGE_UPPER);
}

bool Mec::ring_doorbell(uint32_t index, uint64_t value) {
    bool owned = false;
    if (context_.profile.opposites.has(Opposite::mec_doorbell_range) && !in_range(index)) {
        return false;
    }
    for (ComputeQueue& queue : slots_.queues()) {
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

void Mec::reset() {
    slots_.reset();
    hws_.reset();
    next_ = 0;
}

std::string Mec::describe() const {
    std::string lines;
    for (const ComputeQueue& queue : slots_.queues()) {
        if (queue.active()) {
            lines += fmt::format(
                "{} me {} pipe {} queue {} {} vmid {} pasid {:#x} doorbell {:#x} rptr {} wptr "
                "{}{}\n",
                name_, queue.me(), queue.pipe(), queue.index(), queue.aql() ? "aql" : "pm4",
                queue.vmid(), queue.owner().pasid, queue.doorbell().value_or(0),
                queue.stream.rptr(), queue.stream.wptr(),
                queue.stream.in_ib() ? " in indirect buffer" : "");
        }
    }
    return lines + hws_.describe() + unhandled_.describe();
}

}  // namespace gpuemu
