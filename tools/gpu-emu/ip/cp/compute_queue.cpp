// SPDX-License-Identifier: GPL-2.0
// Thread: device loop only.
#include "gpu-emu/ip/cp/compute_queue.h"

#include <algorithm>

#include "gpu-emu/ip/cp/aql.h"

namespace gpuemu {

namespace gc = gc_9_4_3;

namespace {

constexpr uint8_t SOC15_IH_CLIENTID_GRBM_CP = 0x14;

}  // namespace

void ComputeQueue::activate(const HqdBank::Registers& hqd, const QueueOwner& owner) {
    ++epoch_;
    active_ = true;
    owner_ = owner;
    progress = 0;
    aql_ = gc::CP_HQD_AQL_CONTROL__CONTROL0::get(hqd[gc::regCP_HQD_AQL_CONTROL]) != 0;
    vmid_ = gc::CP_HQD_VMID__VMID::get(hqd[gc::regCP_HQD_VMID]);
    reports_rptr_ = gc::CP_HQD_PQ_CONTROL__NO_UPDATE_RPTR::get(hqd[gc::regCP_HQD_PQ_CONTROL]) == 0;
    rptr_report_ = hqd.pair(gc::regCP_HQD_PQ_RPTR_REPORT_ADDR);
    const uint32_t doorbell = hqd[gc::regCP_HQD_PQ_DOORBELL_CONTROL];
    doorbell_.reset();
    if (gc::CP_HQD_PQ_DOORBELL_CONTROL__DOORBELL_EN::get(doorbell)) {
        doorbell_ = gc::CP_HQD_PQ_DOORBELL_CONTROL__DOORBELL_OFFSET::get(doorbell);
    }

    // QUEUE_SIZE: 2^(n + 1) dwords. Nothing real is larger than 2^31.
    const uint32_t size = gc::CP_HQD_PQ_CONTROL__QUEUE_SIZE::get(hqd[gc::regCP_HQD_PQ_CONTROL]);
    const uint64_t dwords = uint64_t{2} << std::min(size, 30u);
    stream.set_ring(hqd.pair(gc::regCP_HQD_PQ_BASE) << 8, dwords, vmid_);

    // The read pointer register has 32 bits; the rest follows from the write pointer, which has 64.
    // AQL rings may be full, so theirs is kept unwrapped.
    const uint64_t wptr = hqd.pair(gc::regCP_HQD_PQ_WPTR_LO) * (aql_ ? aql::packet_dwords : 1);
    const uint32_t behind = static_cast<uint32_t>(wptr) - hqd[gc::regCP_HQD_PQ_RPTR];
    const uint64_t pending =
        aql_ ? std::min<uint64_t>(behind, dwords) & ~uint64_t{aql::packet_dwords - 1}
             : behind & (dwords - 1);
    stream.set_pointers(wptr - pending, wptr);
    reported_ = stream.rptr();

    const uint32_t ib = hqd[gc::regCP_HQD_IB_CONTROL];
    if (gc::CP_HQD_IB_CONTROL__PROCESSING_IB::get(ib)) {
        stream.enter(
            {hqd.pair(gc::regCP_HQD_IB_BASE_ADDR), gc::CP_HQD_IB_CONTROL__IB_SIZE::get(ib), vmid_});
    }
}

void ComputeQueue::deactivate(HqdBank::Registers& hqd) {
    ++epoch_;
    hqd[gc::regCP_HQD_PQ_RPTR] = rptr_register();
    hqd.set_pair(gc::regCP_HQD_PQ_WPTR_LO, wptr_register());
    uint32_t& control = hqd[gc::regCP_HQD_IB_CONTROL];
    control = gc::CP_HQD_IB_CONTROL__PROCESSING_IB::set(control, stream.in_ib());
    control =
        gc::CP_HQD_IB_CONTROL__IB_SIZE::set(control, stream.in_ib() ? stream.ib()->dwords : 0);
    hqd.set_pair(gc::regCP_HQD_IB_BASE_ADDR, stream.in_ib() ? stream.ib()->address : 0);
    active_ = false;
    progress = 0;
    doorbell_.reset();
    owner_ = {};
    stream.set_pointers(0, 0);
}

void ComputeQueue::ring(uint64_t doorbell_value) {
    set_write_index(aql_ ? doorbell_value + 1 : doorbell_value);
}

void ComputeQueue::set_write_index(uint64_t wptr) {
    if (!aql_) {
        stream.set_wptr(wptr);
        return;
    }
    // Several threads may ring out of order, and an index behind the reader means nothing.
    const uint64_t read = stream.rptr() / aql::packet_dwords;
    const uint64_t slots = stream.ring_dwords() / aql::packet_dwords;
    const uint64_t pending = wptr > read ? std::min(wptr - read, slots) : 0;
    const uint64_t target = stream.rptr() + pending * aql::packet_dwords;
    stream.set_wptr(std::max(stream.wptr(), target));
}

uint8_t ComputeQueue::ring_id() const {
    return static_cast<uint8_t>(pipe() | me() << 2 | index() << 4);
}

InterruptEntry ComputeQueue::interrupt(uint8_t source_id, uint32_t context_id) const {
    return {.client_id = SOC15_IH_CLIENTID_GRBM_CP,
            .source_id = source_id,
            .ring_id = ring_id(),
            .vmid = static_cast<uint8_t>(vmid_),
            .pasid = owner_.pasid,
            .node_id = ih_node_,
            .data = {context_id, 0, 0, 0}};
}

std::pair<uint64_t, int64_t> ComputeQueue::position() const {
    const bool in_buffer = !aql_ && stream.in_ib();
    return {stream.rptr(), in_buffer ? -static_cast<int64_t>(stream.available()) : 0};
}

uint64_t ComputeQueue::wptr_register() const {
    return aql_ ? stream.wptr() / aql::packet_dwords : stream.wptr();
}

void ComputeQueue::report_rptr(GpuMemory& memory, Mutator& mutator) {
    if (!active_ || !reports_rptr_ || rptr_report_ == 0 || reported_ == stream.rptr()) {
        return;
    }
    reported_ = stream.rptr();
    const Port port{memory, hub_, vmid_};
    if (aql_) {
        // read_dispatch_id of amd_queue_t: 64 bits, in packets.
        port.write64(rptr_report_, reported_ / aql::packet_dwords);
    } else {
        port.write32(rptr_report_, mutated(mutator, port, compute_rptr,
                                           static_cast<uint32_t>(stream.ring_position())));
    }
}

}  // namespace gpuemu
