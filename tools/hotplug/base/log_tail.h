// SPDX-License-Identifier: GPL-2.0
// Purpose: a program's last words, for the error that tells of its end.
// Thread: pure function.
#pragma once

#include <filesystem>
#include <string>

namespace hotplug {

/// The last line of the file that is not blank, without control characters; empty when there is
/// none.
std::string last_line(const std::filesystem::path& file);

}  // namespace hotplug
