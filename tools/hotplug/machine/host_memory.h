// SPDX-License-Identifier: GPL-2.0
// Purpose: whether guests fit into the memory of the host, asked before any of them starts: a host
// that runs out of memory in the middle of a run kills somebody, and no verdict of then is worth
// anything. Thread: pure functions. Sources: proc(5), meminfo; Documentation/harness/figures.md.
// Not modelled: limits of a cgroup, swap, what others on the host will want later.
#pragma once

#include <cstdint>
#include <filesystem>

#include "lib/result.h"

namespace hotplug {

struct MachineConfig;

/// The most that machines come to keep resident, in MiB.
struct MemoryNeed {
    uint64_t guests = 0;     // their memory: a guest touches all of it sooner or later
    uint64_t qemus = 0;      // QEMU itself
    uint64_t emulators = 0;  // of GPUs and of black holes
    unsigned emulator_count = 0;

    uint64_t total() const { return guests + qemus + emulators; }
};

MemoryNeed memory_need(const MachineConfig& config);

/// Fails with the sum when `count` machines like that, which are all yet to be started, do not fit
/// into MemAvailable.
hp::Result<void> check_memory(const MachineConfig& config, unsigned count = 1,
                              const std::filesystem::path& meminfo = "/proc/meminfo");

}  // namespace hotplug
