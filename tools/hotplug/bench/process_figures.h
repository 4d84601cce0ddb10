// SPDX-License-Identifier: GPL-2.0
// Purpose: what a process of this machine costs it, as seen from outside: resident memory, by whose
// memory it is, and CPU time. Sources: proc(5). Thread: pure functions.
// Not modelled: swap, huge pages that are resident in part.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string_view>

#include "lib/result.h"

namespace hotplug {

/// In bytes.
struct ProcessMemory {
    /// Resident of all that is no memfd: heap, stacks, program text and libraries. Text that other
    /// processes use, too, counts in full with each.
    uint64_t own = 0;
    /// Pages of the memfds that the process holds open, an emulator's VRAM: each that exists
    /// counts, whether this process touched it or another one that maps it, as QEMU does.
    uint64_t memfds = 0;
    /// Resident of memfds that it only has mapped: the memory of a guest, that is QEMU's.
    uint64_t borrowed = 0;

    uint64_t total() const { return own + memfds; }
};

hp::Result<ProcessMemory> process_memory(pid_t pid);

/// What of /proc/PID/smaps is resident, memfds apart from the rest; `borrowed` is that of all
/// memfds.
ProcessMemory resident_in(std::string_view smaps);

/// Of all its threads since it began.
hp::Result<std::chrono::nanoseconds> process_cpu_time(pid_t pid);

}  // namespace hotplug
