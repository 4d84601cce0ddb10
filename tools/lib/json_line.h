// SPDX-License-Identifier: GPL-2.0
// Purpose: one JSON value per line, which all our protocols have in common, and QEMU's.
// Thread: pure functions.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "lib/result.h"

namespace hp {

/// A longer line is of none of the protocols (Documentation/harness/protocols.md).
inline constexpr size_t json_line_limit = 1u << 20;
/// Nor is a value with more objects and arrays inside of each other.
inline constexpr size_t json_depth_limit = 64;

/// Without the newline. Text that is not UTF-8 is replaced: a name out of a broken guest must not
/// take a connection down.
std::string format_json_line(const nlohmann::json& value);

/// Fails when the line is not a JSON value, or none that any of the protocols has.
Result<nlohmann::json> parse_json_line(std::string_view line);

}  // namespace hp
