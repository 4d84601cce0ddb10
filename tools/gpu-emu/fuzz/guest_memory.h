// SPDX-License-Identifier: GPL-2.0
// Purpose: the host of a fuzzed GPU: its memory, of which a part cannot be written and a part comes
// and goes, with nothing around. Whatever a device does that no bus allows ends the process: reach
// beyond a window (AddressSanitizer), write to what may only be read (SIGSEGV), or do DMA, or send
// an interrupt, while it may not. Thread: single-threaded.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>

#include "gpu-emu/pci/pci_function.h"

namespace gpuemu::fuzz {

class GuestMemory : public PciHost {
public:
    static constexpr uint64_t page = 4096;
    static constexpr uint64_t base = 0x1'0000'0000, bytes = 192 * 1024;
    static constexpr uint64_t read_only = base + bytes + page, read_only_bytes = 8 * page;
    static constexpr uint64_t loose = read_only + read_only_bytes + page, loose_bytes = 8 * page;

    /// `may_reach`: whether the device may do DMA and send interrupts just now.
    explicit GuestMemory(std::function<bool()> may_reach)
        : may_reach_(std::move(may_reach)),
          ram_(std::make_unique<std::byte[]>(bytes)),
          read_only_memory_(static_cast<std::byte*>(
              ::mmap(nullptr, read_only_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
        if (read_only_memory_ == MAP_FAILED) {
            std::abort();
        }
        map_loose(true);
    }
    ~GuestMemory() override { ::munmap(read_only_memory_, read_only_bytes); }
    GuestMemory(const GuestMemory&) = delete;
    GuestMemory& operator=(const GuestMemory&) = delete;

    /// A DMA map that the client adds and removes again: a window that somebody kept is then freed
    /// memory.
    void map_loose(bool mapped) {
        loose_memory_ = mapped ? std::make_unique<std::byte[]>(loose_bytes) : nullptr;
    }

    void clear() {
        std::fill_n(ram_.get(), bytes, std::byte{0});
        map_loose(true);
    }

    /// As the guest's processors write it; cut at the end.
    void put(uint64_t offset, std::span<const std::byte> in) {
        if (offset < bytes) {
            std::copy_n(in.begin(), std::min<uint64_t>(in.size(), bytes - offset),
                        ram_.get() + offset);
        }
    }

    std::span<std::byte> dma(uint64_t iova, uint64_t length, DmaAccess access) override {
        require(may_reach_());
        if (const auto found = part(iova, length, base, ram_.get(), bytes); !found.empty()) {
            return found;
        }
        if (access == DmaAccess::read) {
            const auto found = part(iova, length, read_only, read_only_memory_, read_only_bytes);
            if (!found.empty()) {
                return found;
            }
        }
        return part(iova, length, loose, loose_memory_.get(), loose_bytes);
    }
    bool raise_msi(unsigned vector) override {
        require(may_reach_() && vector == 0);
        return true;
    }

private:
    static void require(bool holds) {
        if (!holds) {
            std::abort();
        }
    }
    static std::span<std::byte> part(uint64_t iova, uint64_t length, uint64_t first,
                                     std::byte* memory, uint64_t size) {
        if (memory == nullptr || iova < first || iova - first >= size) {
            return {};
        }
        return {memory + (iova - first), std::min(length, size - (iova - first))};
    }

    std::function<bool()> may_reach_;
    std::unique_ptr<std::byte[]> ram_;
    std::byte* read_only_memory_;
    std::unique_ptr<std::byte[]> loose_memory_;
};

}  // namespace gpuemu::fuzz
