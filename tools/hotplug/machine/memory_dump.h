// SPDX-License-Identifier: GPL-2.0
// Purpose: the guest's memory in a file, for a debugger: what a guest that no longer answers can
// still tell. Thread: one at a time. Not modelled: cancelling, which QEMU has no command for: a
// dump that is given up goes on into a file without a name until QEMU ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

#include "hotplug/machine/qmp_client.h"
#include "lib/result.h"

namespace hotplug {

struct MemoryDump {
    uint64_t bytes = 0;  ///< of the file
    std::chrono::milliseconds took{0};
};

struct MemoryDumpLimits {
    /// Measured: 3 GiB of a guest that had booted and run clients took 21 s on a busy two-core
    /// host, and 140 MB.
    std::chrono::milliseconds time{180'000};
    /// What the disk keeps, whatever the dump comes to.
    uint64_t spare_bytes = uint64_t(1) << 30;
};

/// Writes a kdump file, compressed by zlib and without pages of zeros. The guest stands still
/// meanwhile, and then goes on. Refused when the disk might not have room: memory that is full and
/// cannot be compressed comes to `guest_bytes`. Nothing is left of a dump that failed.
hp::Result<MemoryDump> dump_memory(QmpClient& qmp, uint64_t guest_bytes,
                                   const std::filesystem::path& file,
                                   const MemoryDumpLimits& limits = {});

}  // namespace hotplug
