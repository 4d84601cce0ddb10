// SPDX-License-Identifier: GPL-2.0
// Purpose: copies and atomic accesses on top of GpuMemory::window().
// Thread: device loop only; the memory is shared with the processors of the guest.
// Does not model: atomic accesses across a page boundary (they fail).
#include "gpu-emu/mem/gpu_memory.h"

#include <algorithm>
#include <atomic>

namespace gpuemu {
namespace {

template <typename T>
T* aligned_pointer(std::span<std::byte> window) {
    if (window.size() < sizeof(T) || reinterpret_cast<uintptr_t>(window.data()) % sizeof(T) != 0) {
        return nullptr;
    }
    return reinterpret_cast<T*>(window.data());
}

template <typename T>
std::optional<T> load(GpuMemory& memory, Hub hub, unsigned vmid, uint64_t va) {
    const auto window = memory.window(hub, vmid, va, sizeof(T), false);
    if (T* const pointer = aligned_pointer<T>(window)) {
        return std::atomic_ref<T>(*pointer).load(std::memory_order_acquire);
    }
    T value{};
    if (window.empty() ||
        !memory.read(hub, vmid, va, std::as_writable_bytes(std::span(&value, 1)))) {
        return std::nullopt;
    }
    return value;
}

template <typename T>
bool store(GpuMemory& memory, Hub hub, unsigned vmid, uint64_t va, T value) {
    const auto window = memory.window(hub, vmid, va, sizeof(T), true);
    if (T* const pointer = aligned_pointer<T>(window)) {
        std::atomic_ref<T>(*pointer).store(value, std::memory_order_release);
        return true;
    }
    return !window.empty() && memory.write(hub, vmid, va, std::as_bytes(std::span(&value, 1)));
}

template <typename T>
std::optional<T> fetch_add(GpuMemory& memory, Hub hub, unsigned vmid, uint64_t va, T addend) {
    T* const pointer = aligned_pointer<T>(memory.window(hub, vmid, va, sizeof(T), true));
    if (pointer == nullptr) {
        return std::nullopt;
    }
    return std::atomic_ref<T>(*pointer).fetch_add(addend, std::memory_order_seq_cst);
}

}  // namespace

bool GpuMemory::read(Hub hub, unsigned vmid, uint64_t va, std::span<std::byte> out) {
    while (!out.empty()) {
        const auto source = window(hub, vmid, va, out.size(), false);
        if (source.empty()) {
            std::ranges::fill(out, std::byte{0});
            return false;
        }
        const std::size_t length = std::min(source.size(), out.size());
        std::memcpy(out.data(), source.data(), length);
        out = out.subspan(length);
        va += length;
    }
    return true;
}

bool GpuMemory::write(Hub hub, unsigned vmid, uint64_t va, std::span<const std::byte> in) {
    while (!in.empty()) {
        const auto target = window(hub, vmid, va, in.size(), true);
        if (target.empty()) {
            return false;
        }
        const std::size_t length = std::min(target.size(), in.size());
        std::memcpy(target.data(), in.data(), length);
        in = in.subspan(length);
        va += length;
    }
    return true;
}

std::optional<uint32_t> GpuMemory::read32(Hub hub, unsigned vmid, uint64_t va) {
    return load<uint32_t>(*this, hub, vmid, va);
}

std::optional<uint64_t> GpuMemory::read64(Hub hub, unsigned vmid, uint64_t va) {
    return load<uint64_t>(*this, hub, vmid, va);
}

bool GpuMemory::write32(Hub hub, unsigned vmid, uint64_t va, uint32_t value) {
    return store<uint32_t>(*this, hub, vmid, va, value);
}

bool GpuMemory::write64(Hub hub, unsigned vmid, uint64_t va, uint64_t value) {
    return store<uint64_t>(*this, hub, vmid, va, value);
}

std::optional<uint64_t> GpuMemory::fetch_add64(Hub hub, unsigned vmid, uint64_t va,
                                               uint64_t addend) {
    return fetch_add<uint64_t>(*this, hub, vmid, va, addend);
}

std::optional<uint32_t> GpuMemory::fetch_add32(Hub hub, unsigned vmid, uint64_t va,
                                               uint32_t addend) {
    return fetch_add<uint32_t>(*this, hub, vmid, va, addend);
}

}  // namespace gpuemu
