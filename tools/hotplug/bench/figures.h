// SPDX-License-Identifier: GPL-2.0
// Purpose: where the figures of a bench go: a line of the terminal each, and a file with all.
// Thread: one.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "lib/result.h"

namespace hotplug {

void print_figure(const std::string& what, const std::string& value);

/// Makes the file's folder when it is missing.
hp::Result<void> write_figures(const std::filesystem::path& file,
                               const nlohmann::ordered_json& figures);

}  // namespace hotplug
