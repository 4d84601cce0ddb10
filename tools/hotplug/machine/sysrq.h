// SPDX-License-Identifier: GPL-2.0
// Purpose: the kernel's own account of its tasks, asked for on the guest's serial console: the last
// resort for a guest whose agent does not answer, as long as one of its CPUs takes interrupts.
// Thread: one at a time.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "hotplug/machine/qmp_client.h"
#include "lib/result.h"

namespace hotplug {

/// SysRq w, tasks in state D with their stacks, at a log level at which they are printed. Returns
/// what `log`, where QEMU writes what comes from the console, has gained since, once it has stood
/// still for `quiet`. Fails when nothing came.
hp::Result<std::string> sysrq_blocked_tasks(
    QmpClient& qmp, const std::filesystem::path& console_socket, const std::filesystem::path& log,
    std::chrono::milliseconds quiet = std::chrono::milliseconds(2000));

}  // namespace hotplug
