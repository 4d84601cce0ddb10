// SPDX-License-Identifier: GPL-2.0
// Purpose: whether rows may be judged on a guest that has just booted. What its kernel complained
// of before there was a driver is not the driver's, but it is the last that KASAN says, and it
// switches lockdep off: the rows would be judged without either. Thread: pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "hotplug/guest/kernel_line.h"
#include "lib/init_lines.h"
#include "lib/result.h"

namespace hotplug {

using hp::driver_load_line;

/// Where in `log` the driver begins. The end of a log without driver_load_line: none of it is the
/// driver's.
size_t find_driver_start(std::span<const KernelLine> log);

/// Whether lock debugging is on, by what /proc/lockdep_stats of a kernel with CONFIG_LOCKDEP says.
/// Fails when it does not say.
hp::Result<bool> lock_debugging_on(std::string_view lockdep_stats);

}  // namespace hotplug
