// SPDX-License-Identifier: GPL-2.0
// Purpose: what the guest's init (scripts/guest/init) writes into the kernel log, for those who
// look for it: the harness and, in the guest, igt_judge. Thread: values.
#pragma once

#include <string_view>

namespace hp {

/// Before it loads the driver.
inline constexpr std::string_view driver_load_line = "guest: modules are to be loaded";
/// After that.
inline constexpr std::string_view modules_loaded_line = "guest: modules are loaded";

}  // namespace hp
