// SPDX-License-Identifier: GPL-2.0
// Purpose: a program that outlives who started it, and that whoever comes later finds again: it has
// a file locked as long as it lives, and its number is in the file. The kernel takes the lock away
// with the process, so that the file never speaks of another one that got the same number.
// Thread: any; no state. Not modelled: a program that closes descriptors which it did not open.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>

#include "hotplug/base/child_process.h"
#include "hotplug/base/deadline.h"
#include "lib/result.h"

namespace hotplug {

/// Standard output and error are appended to `log`. Does nothing when the program that holds `lock`
/// runs already. Fails when the program cannot be executed.
hp::Result<void> start_detached(const Command& command, const std::filesystem::path& log,
                                const std::filesystem::path& lock);

/// Who holds the lock; nothing: nobody does.
std::optional<pid_t> detached_process(const std::filesystem::path& lock);

/// Waits for its end. True as well when it was not there; false when that cannot be told.
bool wait_for_end(const std::filesystem::path& lock, Deadline deadline);

/// SIGTERM, then SIGKILL after `grace`. Fails when not even that ends it.
hp::Result<void> end_detached(const std::filesystem::path& lock, Deadline::Clock::duration grace);

}  // namespace hotplug
