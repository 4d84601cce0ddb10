// SPDX-License-Identifier: GPL-2.0
// Purpose: see frame_buffer.h. Addresses as in gmc_v9_0_vram_gtt_location(): a page of node N is at
// N * node_segment_size in the entries of all GPUs of the hive.
// Thread: device loop only.
#include "gpu-emu/mem/frame_buffer.h"

#include <algorithm>
#include <stdexcept>

namespace gpuemu {

FrameBuffer::FrameBuffer(const Vram& vram, HiveSeat seat, PeerMemory* peers)
    : vram_(vram), seat_(seat), peers_(peers) {
    if (seat_.in_hive() &&
        (peers_ == nullptr || seat_.node >= seat_.nodes || vram_.size() > seat_.segment_bytes)) {
        throw std::invalid_argument("no such seat in the hive for this GPU");
    }
}

uint64_t FrameBuffer::size() const {
    return seat_.in_hive() ? seat_.nodes * seat_.segment_bytes : vram_.size();
}

std::span<std::byte> FrameBuffer::window(uint64_t address, uint64_t length, bool write) const {
    if (!seat_.in_hive()) {
        return vram_.window(address, length);
    }
    if (address >= size()) {
        return {};
    }
    const auto node = static_cast<unsigned>(address / seat_.segment_bytes);
    const uint64_t offset = address % seat_.segment_bytes;
    if (node == seat_.node) {
        return vram_.window(offset, length);
    }
    return peers_->window(node, offset, std::min(length, seat_.segment_bytes - offset), write);
}

}  // namespace gpuemu
