// SPDX-License-Identifier: GPL-2.0
// Purpose: what the witness counted of the accesses to a GPU, and how a GPU vanished under one.
// Documentation/harness/protocols.md has the counters. Thread: values.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace hotplug {

/// Accesses of one kind each, over some span of time.
struct AccessCounts {
    uint64_t mmio_reads = 0;
    uint64_t mmio_writes = 0;
    uint64_t doorbell_writes = 0;
    uint64_t vram_reads = 0;
    uint64_t vram_writes = 0;
    uint64_t config_reads = 0;
    uint64_t config_writes = 0;
    uint64_t dma_reads = 0;
    uint64_t dma_writes = 0;
    uint64_t interrupts = 0;

    /// CPU accesses to the GPU's BARs. Config space is not in it: looking there is how a loss is
    /// found out.
    uint64_t bar_accesses() const {
        return mmio_reads + mmio_writes + doorbell_writes + vram_reads + vram_writes;
    }
};

/// One of the first accesses after the loss.
struct LateAccess {
    std::chrono::steady_clock::time_point time;
    std::string kind;  // "mmio_read"
    unsigned region = 0;
    uint64_t offset = 0;
    std::string name;  // "regGRBM_STATUS", empty when the register has no name
};

/// How the driver touched a GPU that is not there.
struct AbsentAccesses {
    uint64_t server = 0;  // reached the emulator after the loss, while QEMU still had the device
    uint64_t black_hole = 0;  // reached the address after the device had left QEMU
    AccessCounts server_counts;
    AccessCounts black_hole_counts;
    std::vector<LateAccess> first;  // in order of time, server's before the black hole's

    uint64_t total() const { return server + black_hole; }
};

/// DMA of a GPU to where nothing was mapped for it: an IOMMU refuses it.
struct StrayDma {
    struct First {
        std::chrono::steady_clock::time_point time;
        std::string kind;  // "dma_write"
        uint64_t address = 0;
        uint64_t length = 0;
    };
    uint64_t count = 0;
    std::vector<First> first;  // in order of time; the emulator remembers a few
};

/// How the GPU vanished, as the event tells it.
struct Vanishing {
    /// Since `vanish_after` was asked for: accesses, and digests of their sequence (protocols.md).
    uint64_t accesses = 0;
    std::string digest;
    std::string cpu_digest;
    /// "mmio_read of regGRBM_STATUS": the access that found nobody; empty: no access made it
    /// vanish.
    std::string at;
};

}  // namespace hotplug
