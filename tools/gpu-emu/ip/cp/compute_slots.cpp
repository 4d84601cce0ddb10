// SPDX-License-Identifier: GPL-2.0
// Thread: device loop only.
#include "gpu-emu/ip/cp/compute_slots.h"

#include "gpu-emu/ip/queue/port.h"

namespace gpuemu {

namespace gc = gc_9_4_3;

namespace {

constexpr unsigned first_mec_slot = HqdBank::slots_per_me;    // ME0 is graphics
constexpr unsigned end_mec_slot = 3 * HqdBank::slots_per_me;  // behind ME2

}  // namespace

ComputeSlots::ComputeSlots(const EngineContext& context)
    : context_(context), bank_(context.registers, gc_layout(context.profile, context.xcc)) {
    for (unsigned slot = 0; slot < HqdBank::slots; ++slot) {
        queues_.emplace_back(slot, context.gfx_hub(),
                             gc_layout(context.profile, context.xcc).ih_node);
    }
}

bool ComputeSlots::is_mec(unsigned slot) {
    return slot >= first_mec_slot && slot < end_mec_slot;
}

uint32_t ComputeSlots::read(uint32_t dword) {
    const unsigned slot = bank_.selected();
    const uint32_t offset = dword - first_dword() + gc::regCP_MQD_BASE_ADDR.offset;
    const ComputeQueue& queue = queues_[slot];
    if (queue.active()) {
        switch (offset) {
            case gc::regCP_HQD_PQ_RPTR.offset: return queue.rptr_register();
            case gc::regCP_HQD_PQ_WPTR_LO.offset:
                return static_cast<uint32_t>(queue.wptr_register());
            case gc::regCP_HQD_PQ_WPTR_HI.offset:
                return static_cast<uint32_t>(queue.wptr_register() >> 32);
            default: break;
        }
    }
    return bank_[slot].at(dword - first_dword());
}

void ComputeSlots::write(uint32_t dword, uint32_t value) {
    const unsigned slot = bank_.selected();
    HqdBank::Registers& hqd = bank_[slot];
    hqd.at(dword - first_dword()) = value;
    switch (dword - first_dword() + gc::regCP_MQD_BASE_ADDR.offset) {
        case gc::regCP_HQD_ACTIVE.offset:
            if (gc::CP_HQD_ACTIVE__ACTIVE::get(value) && is_mec(slot)) {
                activate(slot, {});
            } else {
                deactivate(slot);
            }
            break;
        case gc::regCP_HQD_DEQUEUE_REQUEST.offset:
            if (gc::CP_HQD_DEQUEUE_REQUEST__DEQUEUE_REQ::get(value) != 0) {
                unmap(slot);
            }
            break;
        default: break;
    }
}

void ComputeSlots::poll_wptr(uint32_t mask) {
    for (unsigned bit = 0; bit < HqdBank::slots_per_me; ++bit) {
        if ((mask >> bit & 1) == 0) {
            continue;
        }
        ComputeQueue& queue = queues_[first_mec_slot + bit];
        if (!queue.active()) {
            poll_at_activation_ |= 1u << bit;
        } else if (const auto wptr = polled_wptr(queue.slot())) {
            queue.set_write_index(*wptr);
        }
    }
}

void ComputeSlots::reset_pipes(uint32_t cp_mec_cntl) {
    for (ComputeQueue& queue : queues()) {
        const unsigned first_bit = queue.me() == 1 ? gc::CP_MEC_CNTL__MEC_ME1_PIPE0_RESET__SHIFT
                                                   : gc::CP_MEC_CNTL__MEC_ME2_PIPE0_RESET__SHIFT;
        const unsigned pipes = queue.me() == 1 ? 4 : 2;
        if (queue.pipe() < pipes && (cp_mec_cntl >> (first_bit + queue.pipe()) & 1) != 0) {
            deactivate(queue.slot());
        }
    }
}

bool ComputeSlots::map(unsigned slot, const MapRequest& request) {
    if (!is_mec(slot)) {
        return false;
    }
    deactivate(slot);
    if (!bank_.load_mqd({context_.memory, context_.gfx_hub(), 0}, slot, request.owner.mqd)) {
        return false;
    }
    HqdBank::Registers& hqd = bank_[slot];
    uint32_t& doorbell = hqd[gc::regCP_HQD_PQ_DOORBELL_CONTROL];
    doorbell = gc::CP_HQD_PQ_DOORBELL_CONTROL__DOORBELL_OFFSET::set(doorbell, request.doorbell);
    doorbell = gc::CP_HQD_PQ_DOORBELL_CONTROL__DOORBELL_EN::set(doorbell, 1);
    if (request.vmid) {
        uint32_t& vmid = hqd[gc::regCP_HQD_VMID];
        vmid = gc::CP_HQD_VMID__VMID::set(vmid, *request.vmid);
    }
    if (request.wptr_address != 0) {
        hqd.set_pair(gc::regCP_HQD_PQ_WPTR_POLL_ADDR, request.wptr_address);
        if (const auto wptr = polled_wptr(slot)) {
            hqd.set_pair(gc::regCP_HQD_PQ_WPTR_LO, *wptr);
        }
    }
    hqd[gc::regCP_HQD_ACTIVE] = 1;
    hqd[gc::regCP_HQD_DEQUEUE_REQUEST] = 0;
    activate(slot, request.owner);
    return true;
}

void ComputeSlots::unmap(unsigned slot) {
    ComputeQueue& queue = queues_[slot];
    if (!queue.active()) {
        return;
    }
    const uint64_t mqd = queue.owner().mqd;
    queue.deactivate(bank_[slot]);
    if (mqd != 0) {
        // On a fault the MQD keeps its old pointers: memory records it, and there is nobody else to
        // tell.
        (void)bank_.save_mqd({context_.memory, context_.gfx_hub(), 0}, slot, mqd);
    }
    vacate(slot);
}

std::span<ComputeQueue> ComputeSlots::queues() {
    return std::span(queues_).subspan(first_mec_slot, end_mec_slot - first_mec_slot);
}

std::span<const ComputeQueue> ComputeSlots::queues() const {
    return std::span(queues_).subspan(first_mec_slot, end_mec_slot - first_mec_slot);
}

void ComputeSlots::reset() {
    for (ComputeQueue& queue : queues()) {
        deactivate(queue.slot());
    }
    bank_.clear();
    poll_at_activation_ = 0;
}

void ComputeSlots::activate(unsigned slot, const QueueOwner& owner) {
    const unsigned bit = slot - first_mec_slot;
    if (bit < HqdBank::slots_per_me && (poll_at_activation_ >> bit & 1) != 0) {
        poll_at_activation_ &= ~(1u << bit);
        if (const auto wptr = polled_wptr(slot)) {
            bank_[slot].set_pair(gc::regCP_HQD_PQ_WPTR_LO, *wptr);
        }
    }
    ++activations_;
    queues_[slot].activate(bank_[slot], owner);
}

void ComputeSlots::deactivate(unsigned slot) {
    if (queues_[slot].active()) {
        queues_[slot].deactivate(bank_[slot]);
    }
    vacate(slot);
}

void ComputeSlots::vacate(unsigned slot) {
    HqdBank::Registers& hqd = bank_[slot];
    hqd[gc::regCP_HQD_ACTIVE] = 0;
    hqd[gc::regCP_HQD_PQ_RPTR] = 0;
    hqd.set_pair(gc::regCP_HQD_PQ_WPTR_LO, 0);
    uint32_t& ib_control = hqd[gc::regCP_HQD_IB_CONTROL];
    ib_control = gc::CP_HQD_IB_CONTROL__PROCESSING_IB::set(ib_control, 0);
}

std::optional<uint64_t> ComputeSlots::polled_wptr(unsigned slot) {
    const uint64_t address = bank_[slot].pair(gc::regCP_HQD_PQ_WPTR_POLL_ADDR);
    const unsigned vmid = gc::CP_HQD_VMID__VMID::get(bank_[slot][gc::regCP_HQD_VMID]);
    return context_.memory.read64(context_.gfx_hub(), vmid, address);
}

}  // namespace gpuemu
