// SPDX-License-Identifier: GPL-2.0
// Purpose: what the addresses behind the page tables lead to that are not on the bus: the VRAM of
// this GPU, and in an XGMI hive that of the others, each in a segment of its own.
// Thread: device loop only.
// Does not model: routes of more than one hop, bandwidth, what a broken link does to a transfer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gpu-emu/mem/hive_seat.h"
#include "gpu-emu/mem/peer_memory.h"
#include "gpu-emu/mem/vram.h"

namespace gpuemu {

class FrameBuffer {
public:
    /// `peers` are asked for the segments of the others: none are needed where there is no hive,
    /// start-up fails with std::invalid_argument where they are missing. Both outlive this.
    explicit FrameBuffer(const Vram& vram, HiveSeat seat = {}, PeerMemory* peers = nullptr);

    /// Of all of the hive.
    uint64_t size() const;

    /// Window from `address`, at most `length` bytes, cut where the VRAM of a GPU ends, empty where
    /// no memory is. Valid until the engine's turn ends.
    std::span<std::byte> window(uint64_t address, uint64_t length, bool write) const;

private:
    const Vram& vram_;
    HiveSeat seat_;
    PeerMemory* peers_;
};

}  // namespace gpuemu
