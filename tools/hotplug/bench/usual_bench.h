// SPDX-License-Identifier: GPL-2.0
// Purpose: accesses, start and removals of one emulated GPU, each beside its control.
// Thread: one.
#pragma once

#include <filesystem>

#include "hotplug/machine/machine.h"
#include "lib/result.h"

namespace hotplug {

/// `base`: kernel, guest and the board, which is that of its first slot. Writes bench.json into
/// `results`. Fails when a guest does not start or a removal does not return.
hp::Result<void> run_usual_bench(const MachineConfig& base, const std::filesystem::path& results);

}  // namespace hotplug
