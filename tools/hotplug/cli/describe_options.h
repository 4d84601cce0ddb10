// SPDX-License-Identifier: GPL-2.0
// Purpose: hpctl's commands and options as a completion for bash and as a man page, made from the
// table that parses them. Thread: pure functions.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace hotplug {

/// Type names of options that a completion knows more of than their values: names of rows, and
/// paths.
inline constexpr const char* row_type = "ROW";
inline constexpr const char* file_type = "FILE";
inline constexpr const char* folder_type = "FOLDER";

/// A script for bash's `source`.
std::string format_completion(const CLI::App& app);

/// For man(1), as groff reads it.
std::string format_man_page(const CLI::App& app, const std::string& version);

}  // namespace hotplug
