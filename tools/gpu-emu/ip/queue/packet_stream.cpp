// SPDX-License-Identifier: GPL-2.0
// Thread: device loop only.
#include "gpu-emu/ip/queue/packet_stream.h"

#include <algorithm>
#include <utility>

namespace gpuemu {

void PacketStream::set_ring(uint64_t base, uint64_t dwords, unsigned vmid) {
    base_ = base;
    dwords_ = dwords;
    vmid_ = vmid;
}

void PacketStream::set_pointers(uint64_t rptr, uint64_t wptr) {
    ib_.reset();
    caller_.reset();
    rptr_ = rptr;
    set_wptr(wptr);
}

void PacketStream::set_wptr(uint64_t wptr) {
    const uint64_t pending = wptr - rptr_;
    wptr_ = pending <= dwords_ ? wptr : rptr_ + (dwords_ == 0 ? 0 : pending & (dwords_ - 1));
}

bool PacketStream::fetch(GpuMemory& memory, Hub hub, uint64_t offset,
                         std::span<uint32_t> out) const {
    if (offset > available() || out.size() > available() - offset) {
        return false;
    }
    if (ib_) {
        return memory.read(hub, ib_->vmid, ib_->address + offset * 4, std::as_writable_bytes(out));
    }
    const uint64_t position = (rptr_ + offset) & (dwords_ - 1);
    const uint64_t first = std::min<uint64_t>(out.size(), dwords_ - position);
    return memory.read(hub, vmid_, base_ + position * 4,
                       std::as_writable_bytes(out.first(first))) &&
           (first == out.size() ||
            memory.read(hub, vmid_, base_, std::as_writable_bytes(out.subspan(first))));
}

void PacketStream::skip(uint64_t dwords) {
    const uint64_t count = std::min(dwords, available());
    if (!ib_) {
        rptr_ += count;
        return;
    }
    ib_->address += count * 4;
    ib_->dwords -= static_cast<uint32_t>(count);
    if (ib_->dwords == 0) {
        leave_ib();
    }
}

void PacketStream::enter(const Ib& ib) {
    if (ib.dwords > 0) {
        ib_ = ib;
    } else {
        leave_ib();
    }
}

void PacketStream::call(const Ib& ib) {
    if (ib.dwords > 0) {
        caller_ = std::exchange(ib_, ib);
    }
}

void PacketStream::leave_ib() {
    ib_ = std::exchange(caller_, std::nullopt);
}

bool PacketStream::drop_if_endless(uint64_t dwords) {
    if (!ib_ && dwords <= dwords_) {
        return false;
    }
    skip(available());
    return true;
}

}  // namespace gpuemu
