// SPDX-License-Identifier: GPL-2.0
// Purpose: see boot_fitness.h.
// Thread: pure functions.
#include "hotplug/guest/boot_fitness.h"

#include <algorithm>

namespace hotplug {

size_t find_driver_start(std::span<const KernelLine> log) {
    const auto start = std::find_if(log.begin(), log.end(), [](const KernelLine& line) {
        return line.text == driver_load_line;
    });
    return static_cast<size_t>(start - log.begin());
}

/// " debug_locks:                             1" (kernel/locking/lockdep_proc.c).
hp::Result<bool> lock_debugging_on(std::string_view lockdep_stats) {
    constexpr std::string_view name = " debug_locks:";
    const size_t at = lockdep_stats.find(name);
    if (at != std::string_view::npos) {
        std::string_view value = lockdep_stats.substr(at + name.size());
        value = value.substr(0, value.find('\n'));
        value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
        if (value == "1" || value == "0") {
            return value == "1";
        }
    }
    return hp::fail("/proc/lockdep_stats does not say whether lock debugging is on");
}

}  // namespace hotplug
