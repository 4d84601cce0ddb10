// SPDX-License-Identifier: GPL-2.0
// Purpose: reads JSON that people write: with // comments, and with an error that says where.
// Thread: pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "lib/result.h"

namespace hp {

/// `file` stands in errors: "FILE:3:7: ..." where the text is no JSON, "FILE: /a/0/b: ..." (a JSON
/// pointer) where an object names a member for the second time. Members keep their order.
Result<nlohmann::ordered_json> parse_json_text(std::string_view text, const std::string& file);

}  // namespace hp
