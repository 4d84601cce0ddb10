// SPDX-License-Identifier: GPL-2.0
// Purpose: the VRAM of another GPU, mapped: what its process has handed over.
// Thread: device loop only; the other GPU, its guest and its peers write the memory at any time.
// Does not model: anything of the link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gpu-emu/peers/presence.h"
#include "lib/fd.h"
#include "lib/result.h"

namespace gpuemu {

class PeerVram {
public:
    /// Maps both, all of them and nothing else. Refuses what is no memfd that keeps its size, since
    /// a touch of pages that went would be SIGBUS, and VRAM of more than `max_bytes`.
    static hp::Result<PeerVram> map(const hp::Fd& vram, const hp::Fd& presence, uint64_t max_bytes);

    PeerVram(PeerVram&& other) noexcept;
    PeerVram& operator=(PeerVram&& other) noexcept;
    ~PeerVram() { unmap(); }

    /// What the other side says of itself, now.
    bool present() const { return presence_->present.load(std::memory_order_seq_cst) == 1; }
    /// PresenceWords::bus_address.
    uint64_t bus_address() const { return presence_->bus_address.load(std::memory_order_seq_cst); }
    uint64_t size() const { return vram_.size(); }
    /// Cut at the end of the VRAM, empty beyond it.
    std::span<std::byte> window(uint64_t offset, uint64_t length) const;

private:
    PeerVram(std::span<std::byte> vram, const PresenceWords* presence)
        : vram_(vram), presence_(presence) {}
    void unmap();

    std::span<std::byte> vram_;
    const PresenceWords* presence_;
};

}  // namespace gpuemu
