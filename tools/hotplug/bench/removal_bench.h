// SPDX-License-Identifier: GPL-2.0
// Purpose: removals with one KFD process and with fifty.
// Thread: one.
#pragma once

#include <filesystem>

#include "hotplug/machine/machine.h"
#include "lib/result.h"

namespace hotplug {

/// Writes bench-removal.json into `results`. Fails when a removal does not return, or a process
/// does not live through it.
hp::Result<void> run_removal_bench(MachineConfig config, const std::filesystem::path& results);

}  // namespace hotplug
