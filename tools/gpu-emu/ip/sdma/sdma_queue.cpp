// SPDX-License-Identifier: GPL-2.0
// Thread: device loop only.
#include "gpu-emu/ip/sdma/sdma_queue.h"

#include <array>
#include <span>

#include "gpu-emu/ip/sdma/sdma_packets.h"

namespace gpuemu {

namespace regs = sdma_4_4_2;

using enum regs::QueueReg;

namespace {

// struct v9_sdma_mqd: dwords 0 to 18 are RB_CNTL to DOORBELL, 19 to 22 STATUS to DOORBELL_OFFSET.
constexpr uint32_t mqd_dwords = 23;
constexpr uint32_t mqd_second_part = 19;

uint32_t register_of_mqd_dword(uint32_t dword) {
    return dword < mqd_second_part ? dword : STATUS + (dword - mqd_second_part);
}

}  // namespace

void SdmaQueue::written(uint32_t dword) {
    switch (dword - first_dword_) {
        case RB_CNTL:
            // Written again while enabled it must not restart the queue: that would forget its
            // indirect buffer.
            if (const bool enable = regs::RB_CNTL__RB_ENABLE::get(reg(RB_CNTL)) != 0;
                enable != active_) {
                enable ? start() : stop();
            } else if (active_) {
                place_ring();
            }
            break;
        case RB_BASE:
        case RB_BASE_HI:
            if (active_) {
                place_ring();
            }
            break;
        case RB_RPTR:
        case RB_RPTR_HI:
            if (active_) {
                stream.set_pointers(pair(RB_RPTR) / 4, pair(RB_WPTR) / 4);
            }
            break;
        case RB_WPTR:
        case RB_WPTR_HI:
            if (active_) {
                stream.set_wptr(pair(RB_WPTR) / 4);
            }
            break;
        default: break;
    }
}

bool SdmaQueue::ring(uint32_t doorbell_index, uint64_t wptr_bytes) {
    if (doorbell() != doorbell_index) {
        return false;
    }
    set_pair(RB_WPTR, wptr_bytes);
    if (active_) {
        stream.set_wptr(wptr_bytes / 4);
    }
    return true;
}

bool SdmaQueue::map(GpuMemory& memory, const MapRequest& request) {
    std::array<uint32_t, mqd_dwords> mqd{};
    const Port mqd_port{memory, request.owner.hub, 0};
    if (!mqd_port.read(request.owner.mqd, std::as_writable_bytes(std::span(mqd)))) {
        return false;
    }
    for (uint32_t dword = 0; dword < mqd_dwords; ++dword) {
        registers_.raw(first_dword_ + register_of_mqd_dword(dword)) = mqd[dword];
    }
    uint32_t control = regs::RB_CNTL__RB_ENABLE::set(reg(RB_CNTL), 1);
    if (request.vmid) {
        control = regs::RB_CNTL__RB_VMID::set(control, *request.vmid);
    }
    set(RB_CNTL, control);
    set(DOORBELL, regs::DOORBELL__ENABLE::set(reg(DOORBELL), 1));
    set(DOORBELL_OFFSET,
        regs::DOORBELL_OFFSET__OFFSET::set(reg(DOORBELL_OFFSET), request.doorbell));
    if (request.wptr_address != 0) {
        const auto wptr = memory.read64(hub_, vmid(), request.wptr_address);
        set_pair(RB_WPTR, wptr.value_or(pair(RB_RPTR)));
    }
    start();
    owner_ = request.owner;
    return true;
}

void SdmaQueue::unmap(GpuMemory& memory) {
    const uint64_t mqd = owner_.mqd;
    const Port port{memory, owner_.hub, 0};
    stop();
    if (mqd != 0) {
        for (const uint32_t dword :
             {RB_RPTR, RB_RPTR_HI, RB_WPTR, RB_WPTR_HI, IB_BASE_LO, IB_BASE_HI, IB_SIZE}) {
            port.write32(mqd + dword * sizeof(uint32_t), registers_.raw(first_dword_ + dword));
        }
    }
    set(RB_CNTL, regs::RB_CNTL__RB_ENABLE::set(reg(RB_CNTL), 0));
    set(DOORBELL, 0);
    set(IB_SIZE, 0);
}

void SdmaQueue::report_rptr(GpuMemory& memory, Mutator& mutator) {
    const uint64_t bytes = stream.rptr() * 4;
    if (!active_ || reported_ == bytes) {
        return;
    }
    reported_ = bytes;
    set_pair(RB_RPTR, bytes);
    // HI is the lower register of this pair.
    const uint64_t address = join(reg(RB_RPTR_ADDR_LO), reg(RB_RPTR_ADDR_HI));
    if (regs::RB_CNTL__RPTR_WRITEBACK_ENABLE::get(reg(RB_CNTL)) && address != 0) {
        const Port port{memory, hub_, vmid()};
        port.write64(address, mutated(mutator, port, sdma_rptr, bytes));
    }
}

unsigned SdmaQueue::vmid() const {
    return regs::RB_CNTL__RB_VMID::get(reg(RB_CNTL));
}

std::optional<uint32_t> SdmaQueue::doorbell() const {
    if (!regs::DOORBELL__ENABLE::get(reg(DOORBELL))) {
        return std::nullopt;
    }
    return regs::DOORBELL_OFFSET__OFFSET::get(reg(DOORBELL_OFFSET));
}

void SdmaQueue::set_pair(regs::QueueReg low, uint64_t value) {
    registers_.raw(first_dword_ + low) = static_cast<uint32_t>(value);
    registers_.raw(first_dword_ + low + 1) = static_cast<uint32_t>(value >> 32);
}

void SdmaQueue::start() {
    ++epoch_;
    active_ = true;
    owner_ = {};
    progress = 0;
    place_ring();
    stream.set_pointers(pair(RB_RPTR) / 4, pair(RB_WPTR) / 4);
    reported_ = stream.rptr() * 4;
    // Left over from a preemption in the middle of it.
    stream.enter({pair(IB_BASE_LO), sdma::IB_SIZE::get(reg(IB_SIZE)), vmid()});
    set(IB_SIZE, 0);
}

void SdmaQueue::place_ring() {
    const uint32_t size = regs::RB_CNTL__RB_SIZE::get(reg(RB_CNTL));
    stream.set_ring(pair(RB_BASE) << 8, uint64_t{1} << size, vmid());
    stream.set_wptr(stream.wptr());
}

void SdmaQueue::stop() {
    ++epoch_;
    if (active_) {
        set_pair(RB_RPTR, stream.rptr() * 4);
        set_pair(RB_WPTR, stream.wptr() * 4);
    }
    // Only a user's queue goes on in the middle of a buffer: the driver never restarts its own
    // there.
    const bool keep = stream.in_ib() && owner_.mqd != 0;
    set_pair(IB_BASE_LO, keep ? stream.ib()->address : 0);
    set(IB_SIZE, keep ? stream.ib()->dwords : 0);
    active_ = false;
    owner_ = {};
    progress = 0;
    stream.set_pointers(0, 0);
}

}  // namespace gpuemu
