// SPDX-License-Identifier: GPL-2.0
// Purpose: the VRAM of the other GPUs of an XGMI hive, as the engines of this one reach it.
// Thread: device loop only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gpuemu {

class PeerMemory {
public:
    virtual ~PeerMemory() = default;

    /// Window from `offset` of the VRAM of `node`, at most `length` bytes, empty beyond its end. Of
    /// a node that is not there it is a page of ones, and what is written to it is lost. Valid
    /// until the engine's turn ends; never keep it.
    virtual std::span<std::byte> window(unsigned node, uint64_t offset, uint64_t length,
                                        bool write) = 0;
};

}  // namespace gpuemu
