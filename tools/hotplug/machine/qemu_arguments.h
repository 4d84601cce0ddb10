// SPDX-License-Identifier: GPL-2.0
// Purpose: the QEMU command line of a machine: every option it needs, and why.
// Thread: pure function.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hotplug/machine/machine.h"

namespace hotplug {

/// `devices`: the slots' -device objects (JSON). Sockets are made in `sockets`: console, qmp,
/// qtest, agent.
std::vector<std::string> qemu_arguments(const MachineConfig& config,
                                        const std::filesystem::path& sockets,
                                        const std::vector<std::string>& devices);

}  // namespace hotplug
