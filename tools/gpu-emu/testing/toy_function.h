// SPDX-License-Identifier: GPL-2.0
// Purpose: for tests: a PCI function whose BARs read a constant and that remembers what was done to
// it, and a host that grants one piece of memory. Thread: one.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "gpu-emu/pci/pci_function.h"

namespace gpuemu {

class ToyFunction : public PciFunction {
public:
    static constexpr std::byte pattern{0x5a};

    RegionInfo region_info(Region) const override {
        return {.size = 4096, .writable = true, .mmap_fd = -1};
    }
    unsigned msi_vectors() const override { return 1; }
    void read(Region, uint64_t, std::span<std::byte> out) override {
        ++reads;
        std::fill(out.begin(), out.end(), pattern);
    }
    void write(Region, uint64_t offset, std::span<const std::byte>) override {
        written.push_back(offset);
    }
    void attach(PciHost& given) override {
        host = &given;
        ++attachments;
    }
    void detach() override { ++detachments; }
    void reset() override { ++resets; }
    bool asleep() const override { return sleeps; }

    PciHost* host = nullptr;
    int reads = 0;
    std::vector<uint64_t> written;
    int attachments = 0;
    int detachments = 0;
    int resets = 0;
    bool sleeps = false;
};

class ToyHost : public PciHost {
public:
    std::span<std::byte> dma(uint64_t, uint64_t length, DmaAccess) override {
        ++windows;
        if (!offers) {
            return {};
        }
        return std::span(memory).first(std::min<uint64_t>(length, memory.size()));
    }
    bool raise_msi(unsigned) override {
        interrupts += listens ? 1 : 0;
        return listens;
    }

    std::array<std::byte, 64> memory{};
    bool offers = true;  // DMA maps
    int windows = 0;
    int interrupts = 0;
    bool listens = true;  // MSI is set up
};

}  // namespace gpuemu
