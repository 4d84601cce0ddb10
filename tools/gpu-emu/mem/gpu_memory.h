// SPDX-License-Identifier: GPL-2.0
// Purpose: memory as the engines of the GPU see it: virtual addresses of a hub and a VMID,
// translated by the page tables the driver wrote, landing in VRAM or on the bus. Abstract, so that
// packet parsers are tested and fuzzed against plain memory. Thread: device loop only.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace gpuemu {

/// A VM hub: that of an XCC (its command processors) or the MMHUB of an AID (SDMA; PSP, SMU and IH
/// at the first).
struct Hub {
    enum class Kind : uint8_t { gfx, mm };

    Kind kind;
    uint8_t instance = 0;  // which XCC, or which AID

    auto operator<=>(const Hub&) const = default;

    static const Hub gfx, mm;  // those of a GPU that has one of each, else the first
};
inline constexpr Hub Hub::gfx{Kind::gfx}, Hub::mm{Kind::mm};

class GpuMemory {
public:
    virtual ~GpuMemory() = default;

    /// Host window onto `va`, at most `length` bytes, shorter at a page or map boundary, empty on a
    /// fault (which is recorded). Valid until the engine's turn ends; never keep it.
    virtual std::span<std::byte> window(Hub hub, unsigned vmid, uint64_t va, uint64_t length,
                                        bool write) = 0;

    /// Same for a bus address, without translation (IH with MC_SPACE 1).
    virtual std::span<std::byte> bus_window(uint64_t address, uint64_t length, bool write) = 0;

    /// Copies across boundaries. False on a fault: the rest of `out` is zero, the rest of `in` is
    /// not written.
    bool read(Hub hub, unsigned vmid, uint64_t va, std::span<std::byte> out);
    bool write(Hub hub, unsigned vmid, uint64_t va, std::span<const std::byte> in);

    /// Aligned 4 and 8 byte accesses are single copies with release/acquire order: the CPU polls on
    /// them.
    std::optional<uint32_t> read32(Hub hub, unsigned vmid, uint64_t va);
    std::optional<uint64_t> read64(Hub hub, unsigned vmid, uint64_t va);
    bool write32(Hub hub, unsigned vmid, uint64_t va, uint32_t value);
    bool write64(Hub hub, unsigned vmid, uint64_t va, uint64_t value);

    /// Atomic add seen by CPU and GPU alike; returns the old value. Needs natural alignment.
    std::optional<uint64_t> fetch_add64(Hub hub, unsigned vmid, uint64_t va, uint64_t addend);
    std::optional<uint32_t> fetch_add32(Hub hub, unsigned vmid, uint64_t va, uint32_t addend);
};

}  // namespace gpuemu
