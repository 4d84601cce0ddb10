// SPDX-License-Identifier: GPL-2.0
// Purpose: see json_line.h.
// Thread: pure functions.
#include "lib/json_line.h"

#include <nlohmann/json.hpp>

namespace hp {

namespace {

constexpr size_t shown = 80;  // of a line that is none, in an error

}  // namespace

std::string format_json_line(const nlohmann::json& value) {
    return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<nlohmann::json> parse_json_line(std::string_view line) {
    auto value = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (value.is_discarded()) {
        return fail("not a JSON value: '" + std::string(line.substr(0, shown)) + "'");
    }
    return value;
}

}  // namespace hp
