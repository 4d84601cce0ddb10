// SPDX-License-Identifier: GPL-2.0
// Purpose: reads a scenario file: JSON with // comments, see
// Documentation/harness/writing-a-scenario.md. Thread: pure functions.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "hotplug/scenario/scenario.h"
#include "lib/result.h"

namespace hotplug {

/// `file` stands in errors: "FILE:3:7: ..." where the text is no JSON, "FILE: /steps/2: ..." (a
/// JSON pointer) where it says something that is not allowed, with what is.
hp::Result<Scenario> parse_scenario(std::string_view text, const std::string& file);

hp::Result<Scenario> load_scenario(const std::filesystem::path& file);

/// JSON Schema (2020-12) of such a file, made of the tables that the parser reads by. It knows each
/// value and object; the order of steps it does not.
nlohmann::ordered_json scenario_schema();

}  // namespace hotplug
