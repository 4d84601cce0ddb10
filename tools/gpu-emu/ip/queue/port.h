// SPDX-License-Identifier: GPL-2.0
// Purpose: memory as one packet sees it: the hub of its engine and the VMID of its buffer, bound
// once. Thread: device loop only; a value that lives no longer than the packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "gpu-emu/hostile/mutator.h"
#include "gpu-emu/mem/gpu_memory.h"

namespace gpuemu {

struct Port {
    GpuMemory& memory;
    Hub hub;
    unsigned vmid;

    std::span<std::byte> window(uint64_t va, uint64_t length, bool write) const {
        return memory.window(hub, vmid, va, length, write);
    }
    bool read(uint64_t va, std::span<std::byte> out) const {
        return memory.read(hub, vmid, va, out);
    }
    bool write(uint64_t va, std::span<const std::byte> in) const {
        return memory.write(hub, vmid, va, in);
    }
    std::optional<uint32_t> read32(uint64_t va) const { return memory.read32(hub, vmid, va); }
    std::optional<uint64_t> read64(uint64_t va) const { return memory.read64(hub, vmid, va); }
    bool write32(uint64_t va, uint32_t value) const { return memory.write32(hub, vmid, va, value); }
    bool write64(uint64_t va, uint64_t value) const { return memory.write64(hub, vmid, va, value); }
};

/// What is written back in place of `value`. What a user's memory is told is the truth: the kernel
/// does not rely on it.
template <typename T>
T mutated(Mutator& mutator, const Port& port, WriteBack what, T value) {
    if (port.vmid == 0) {
        mutator.table(Surface::write_backs, what, std::as_writable_bytes(std::span(&value, 1)));
    }
    return value;
}

/// The same for a fence of one of the driver's own rings.
inline uint32_t mutated_fence(Mutator& mutator, const Port& port, WriteBack what, uint32_t value) {
    return port.vmid == 0 ? mutator.fence(what, value) : value;
}

/// Two neighbouring dwords of a packet, low one first.
inline uint64_t join(uint32_t low, uint32_t high) {
    return low | uint64_t{high} << 32;
}

}  // namespace gpuemu
