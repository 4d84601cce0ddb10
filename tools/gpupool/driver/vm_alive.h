// SPDX-License-Identifier: GPL-2.0
// Purpose: whether a VM runs on this machine, asked of the kernel, which keeps a lock for each: for
// who must not ask the daemon, since a VM goes on when that has ended, or has much to do.
// Thread: any; no state.
#pragma once

#include <filesystem>
#include <string>

namespace gpupool {

/// `run`: the daemon's folder of what ends with the machine.
bool vm_alive(const std::filesystem::path& run, const std::string& name);

}  // namespace gpupool
