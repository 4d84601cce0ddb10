// SPDX-License-Identifier: GPL-2.0
// Purpose: the kinds of values that have no members.
// Thread: pure functions.
#include "hotplug/scenario/object.h"

#include <fmt/format.h>

namespace hotplug {

Kind<std::string> text_kind() {
    return {{{"type", "string"}, {"minLength", 1}}, [](const Node& node) { return node.text(); }};
}

Kind<std::string> name_kind() {
    return {{{"type", "string"}, {"pattern", "^[a-z0-9-]+$"}}, [](const Node& node) {
                const std::string text = node.text();
                constexpr auto allowed = "abcdefghijklmnopqrstuvwxyz0123456789-";
                if (text.find_first_not_of(allowed) != std::string::npos) {
                    node.refuse(fmt::format("'{}' is no name: a-z, 0-9 and - are allowed", text));
                }
                return text;
            }};
}

Kind<bool> boolean_kind() {
    return {nlohmann::ordered_json::object({{"type", "boolean"}}),
            [](const Node& node) { return node.boolean(); }};
}

Kind<int64_t> integer_kind(int64_t least, int64_t most) {
    return {{{"type", "integer"}, {"minimum", least}, {"maximum", most}},
            [=](const Node& node) { return node.integer(least, most); }};
}

Kind<std::chrono::milliseconds> seconds_kind() {
    return {{{"type", "number"}, {"exclusiveMinimum", 0}, {"maximum", 3600}},
            [](const Node& node) { return node.seconds(); }};
}

}  // namespace hotplug
