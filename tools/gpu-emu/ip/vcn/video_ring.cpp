// SPDX-License-Identifier: GPL-2.0
// Thread: device loop only.
#include "gpu-emu/ip/vcn/video_ring.h"

#include <algorithm>
#include <bit>

#include "gpu-emu/ip/regs/vcn_4_0_3.h"

namespace gpuemu {

void VideoRing::claim(const std::function<void()>& changed) {
    const auto declare = [&](uint32_t first, uint32_t count, auto effect) {
        registers_.declare(first, count, {.written = [this, changed, effect](uint32_t, uint32_t) {
                               if (enabled_) {
                                   effect();
                               }
                               changed();
                           }});
    };
    declare(layout_.base, 2, [this] { place(); });
    declare(layout_.size, 1, [this] { place(); });
    declare(layout_.rptr, 1, [this] { load_pointers(); });
    declare(layout_.wptr, 1, [this] { stream.set_wptr(registers_.raw(layout_.wptr)); });
}

void VideoRing::enable(bool on, unsigned vmid) {
    if (on == enabled_ && vmid == vmid_) {
        return;
    }
    enabled_ = on;
    vmid_ = vmid;
    if (on) {
        place();
        load_pointers();
    } else {
        reset();
    }
}

bool VideoRing::ring(uint32_t doorbell, uint32_t wptr) {
    if (layout_.doorbell.index(registers_) != doorbell) {
        return false;
    }
    registers_.raw(layout_.wptr) = wptr;
    if (enabled_) {
        stream.set_wptr(wptr);
    }
    return true;
}

void VideoRing::reset() {
    ++epoch_;
    enabled_ = false;
    progress = 0;
    stream.set_pointers(0, 0);
}

void VideoRing::report_rptr(GpuMemory&, Mutator&) {
    registers_.raw(layout_.rptr) = static_cast<uint32_t>(stream.ring_position());
}

void VideoRing::place() {
    constexpr uint32_t most_dwords = 1u << 24;
    const uint32_t size = registers_.raw(layout_.size);
    uint32_t dwords = size;
    if (layout_.size_in == SizeIn::log2_bytes) {
        const uint32_t log2 = vcn_4_0_3::UVD_RBC_RB_CNTL__RB_BUFSZ::get(size);
        dwords = log2 < 2 ? 0 : 1u << (log2 - 2);
    }
    stream.set_ring(registers_.raw64(layout_.base), std::min(std::bit_floor(dwords), most_dwords),
                    vmid_);
    stream.set_wptr(stream.wptr());
}

void VideoRing::load_pointers() {
    ++epoch_;
    progress = 0;
    stream.set_pointers(registers_.raw(layout_.rptr), registers_.raw(layout_.wptr));
}

}  // namespace gpuemu
