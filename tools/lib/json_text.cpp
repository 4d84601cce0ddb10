// SPDX-License-Identifier: GPL-2.0
// Purpose: see json_text.h. Thread: pure functions.
#include "lib/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

namespace hp {

namespace {

using json = nlohmann::ordered_json;

/// Follows the parser, which itself lets the last of two members win.
class DuplicateFinder {
public:
    void see(json::parse_event_t event, const json& parsed) {
        switch (event) {
            case json::parse_event_t::object_start: levels_.push_back({.list = false}); return;
            case json::parse_event_t::array_start: levels_.push_back({.list = true}); return;
            case json::parse_event_t::key: see_member(parsed.get<std::string>()); return;
            case json::parse_event_t::object_end:
            case json::parse_event_t::array_end: levels_.pop_back(); break;
            case json::parse_event_t::value: break;
        }
        if (!levels_.empty() && levels_.back().list) {
            ++levels_.back().index;
        }
    }

    /// The pointer of the first one; empty: there is none.
    const std::string& duplicate() const { return duplicate_; }

private:
    struct Level {
        bool list;
        size_t index = 0;
        std::string member = {};
        std::set<std::string> members = {};
    };

    void see_member(const std::string& name) {
        levels_.back().member = name;
        if (!levels_.back().members.insert(name).second && duplicate_.empty()) {
            for (const Level& level : levels_) {
                duplicate_ += "/" + (level.list ? std::to_string(level.index) : level.member);
            }
        }
    }

    std::vector<Level> levels_;
    std::string duplicate_;
};

/// "3:7" of the byte that the JSON parser stumbled over.
std::string line_and_column(std::string_view text, size_t byte) {
    const std::string_view before = text.substr(0, byte == 0 ? 0 : byte - 1);
    const size_t last_break = before.rfind('\n');
    const size_t column =
        last_break == std::string_view::npos ? before.size() + 1 : before.size() - last_break;
    return fmt::format("{}:{}", 1 + std::count(before.begin(), before.end(), '\n'), column);
}

/// The parser's own text without its position: "unexpected ']'; expected '}'".
std::string complaint_of(const json::parse_error& error) {
    std::string text = error.what();
    const size_t position = text.find("column ");
    if (position != std::string::npos) {
        text.erase(0, std::min(text.size(), text.find(": ", position) + 2));
    }
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

}  // namespace

Result<nlohmann::ordered_json> parse_json_text(std::string_view text, const std::string& file) {
    DuplicateFinder finder;
    json value;
    try {
        value = json::parse(
            text,
            [&](int, json::parse_event_t event, json& parsed) {
                finder.see(event, parsed);
                return true;
            },
            true, /*ignore_comments=*/true);
    } catch (const json::parse_error& error) {
        return fail(
            fmt::format("{}:{}: {}", file, line_and_column(text, error.byte), complaint_of(error)));
    }
    if (!finder.duplicate().empty()) {
        return fail(fmt::format("{}: {}: named a second time", file, finder.duplicate()));
    }
    return value;
}

}  // namespace hp
