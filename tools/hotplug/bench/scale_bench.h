// SPDX-License-Identifier: GPL-2.0
// Purpose: what many GPUs, and many guests, cost the host and each other.
// Thread: one.
#pragma once

#include <filesystem>

#include "hotplug/machine/machine.h"
#include "lib/result.h"

namespace hotplug {

struct ScaleBench {
    unsigned vms = 8;  // guests at once; 0: none
    unsigned gpus_per_vm = 1;
    unsigned vram_mib = 16384;
    unsigned memory_limit_mib = 64;  // of an emulator
    unsigned idle_s = 10;
};

/// `base`: kernel, the one guest with all its GPUs, and the board of the others, which is that of
/// its first slot. Whether all GPUs came up
/// and worked, and no emulator kept more than it may; what did not is printed and in
/// bench-scale.json in `results`. Fails when the guests do not fit into the host's memory.
hp::Result<bool> run_scale_bench(const MachineConfig& base, const ScaleBench& options,
                                 const std::filesystem::path& results);

}  // namespace hotplug
