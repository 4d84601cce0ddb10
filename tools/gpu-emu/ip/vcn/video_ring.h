// SPDX-License-Identifier: GPL-2.0
// Purpose: a ring of VCN or JPEG: its registers, which are its whole state while it is off, and its
// stream. What is in it is the business of the engine. Thread: device loop only.
// Does not model: read pointers that are reported to memory (the driver reads the register), timers
// of conditional reads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "gpu-emu/device/register_file.h"
#include "gpu-emu/hostile/mutator.h"
#include "gpu-emu/ip/queue/packet_stream.h"
#include "gpu-emu/ip/vcn/video_doorbell.h"

namespace gpuemu {

class VideoRing {
public:
    enum class SizeIn { dwords, log2_bytes };

    /// Dwords of its registers. Base is a pair, the low one first.
    struct Layout {
        std::string name;
        uint32_t base, size, rptr, wptr;
        VideoDoorbell doorbell;
        uint8_t ih_source;  // of its traps
        SizeIn size_in = SizeIn::dwords;
    };

    VideoRing(RegisterFile& registers, Layout layout)
        : registers_(registers), layout_(std::move(layout)) {}

    /// Claims its registers; `changed` is called when one was written.
    void claim(const std::function<void()>& changed);

    /// Whether packets are fetched. One that is switched on goes on where its registers say.
    void enable(bool on, unsigned vmid);

    /// True: the doorbell is this ring's. One that is off takes the value along for later.
    bool ring(uint32_t doorbell, uint32_t wptr);

    /// Off; the engine clears the registers.
    void reset();

    bool enabled() const { return enabled_; }
    bool has_work() const { return enabled_ && !stream.empty(); }
    const Layout& layout() const { return layout_; }

    /// Read pointer to its register; memory is told nothing.
    void report_rptr(GpuMemory&, Mutator&);

    /// Changes whenever the ring is switched on or off or its pointers are written.
    uint32_t epoch() const { return epoch_; }

    PacketStream stream;
    uint64_t progress = 0;  // of the packet at the front

private:
    void place();
    void load_pointers();

    RegisterFile& registers_;
    Layout layout_;
    bool enabled_ = false;
    unsigned vmid_ = 0;
    uint32_t epoch_ = 0;
};

}  // namespace gpuemu
