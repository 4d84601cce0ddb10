// SPDX-License-Identifier: GPL-2.0
// Purpose: for tests of IP blocks: memory without translation, and an interrupt sink that
// remembers.
// Thread: the test's.
// Does not model: page boundaries, VMIDs: every address is an offset into one array.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "gpu-emu/ip/interrupt_sink.h"
#include "gpu-emu/mem/gpu_memory.h"

namespace gpuemu {

class TestMemory : public GpuMemory {
public:
    std::span<std::byte> window(Hub, unsigned, uint64_t va, uint64_t length, bool) override {
        return slice(va, length);
    }
    std::span<std::byte> bus_window(uint64_t address, uint64_t length, bool) override {
        ++bus_accesses;
        return slice(address, length);
    }

    template <typename T>
    T get(uint64_t address) const {
        T value{};
        std::memcpy(&value, bytes() + address, sizeof value);
        return value;
    }
    template <typename T>
    void put(uint64_t address, const T& value) {
        std::memcpy(bytes() + address, &value, sizeof value);
    }

    unsigned bus_accesses = 0;

private:
    std::byte* bytes() { return reinterpret_cast<std::byte*>(words_.data()); }
    const std::byte* bytes() const { return reinterpret_cast<const std::byte*>(words_.data()); }
    std::span<std::byte> slice(uint64_t address, uint64_t length) {
        const uint64_t size = words_.size() * sizeof(uint64_t);
        if (address >= size) {
            return {};
        }
        return {bytes() + address, std::min(length, size - address)};
    }

    std::vector<uint64_t> words_ = std::vector<uint64_t>(128 * 1024);  // 1 MiB, aligned
};

class RecordingSink : public InterruptSink {
public:
    void raise(const InterruptEntry& entry) override { entries.push_back(entry); }

    std::vector<InterruptEntry> entries;
};

}  // namespace gpuemu
