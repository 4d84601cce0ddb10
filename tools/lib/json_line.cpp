// SPDX-License-Identifier: GPL-2.0
// Purpose: see json_line.h.
// Thread: pure functions.
#include "lib/json_line.h"

#include <nlohmann/json.hpp>

namespace hp {

namespace {

constexpr size_t shown = 80;  // of a line that is none, in an error

/// A value is copied and written by functions that call themselves for each level, and a line has
/// room for half a million of them: more than a stack has.
bool is_nested_too_deeply(std::string_view line) {
    size_t depth = 0;
    bool quoted = false;
    for (size_t at = 0; at < line.size(); ++at) {
        switch (line[at]) {
            case '"': quoted = !quoted; break;
            case '\\': at += quoted ? 1 : 0; break;
            case '[':
            case '{': depth += quoted ? 0 : 1; break;
            case ']':
            case '}': depth -= !quoted && depth > 0 ? 1 : 0; break;
            default: break;
        }
        if (depth > json_depth_limit) {
            return true;
        }
    }
    return false;
}

}  // namespace

std::string format_json_line(const nlohmann::json& value) {
    return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<nlohmann::json> parse_json_line(std::string_view line) {
    if (is_nested_too_deeply(line)) {
        return fail("a JSON value that is nested too deeply");
    }
    auto value = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (value.is_discarded()) {
        return fail("not a JSON value: '" + std::string(line.substr(0, shown)) + "'");
    }
    return value;
}

}  // namespace hp
