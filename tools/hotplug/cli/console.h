// SPDX-License-Identifier: GPL-2.0
// Purpose: connects this terminal with the guest's serial console.
// Thread: one.
#pragma once

#include <filesystem>

#include "lib/result.h"

namespace hotplug {

/// Carries bytes both ways until the guest closes the console or Ctrl-] is typed (Ctrl-C belongs to
/// the guest).
hp::Result<void> attach_console(const std::filesystem::path& socket);

}  // namespace hotplug
