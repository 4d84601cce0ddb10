// SPDX-License-Identifier: GPL-2.0
// Purpose: see checks.h.
// Thread: constants and pure functions.
#include "hotplug/scenario/checks.h"

#include <algorithm>

namespace hotplug {

namespace {

constexpr CheckInfo table[] = {
#define HOTPLUG_CHECK_ROW(name, heading, use, data) \
    {Check::name, #name, heading, CheckUse::use, CheckData::data},
    HOTPLUG_CHECKS(HOTPLUG_CHECK_ROW)
#undef HOTPLUG_CHECK_ROW
};

}  // namespace

std::span<const CheckInfo> all_checks() {
    return table;
}

const CheckInfo& info(Check check) {
    return table[static_cast<size_t>(check)];
}

std::string_view to_string(Check check) {
    return info(check).name;
}

std::optional<Check> parse_check(std::string_view name) {
    const auto* found = std::find_if(std::begin(table), std::end(table),
                                     [&](const CheckInfo& known) { return known.name == name; });
    return found == std::end(table) ? std::nullopt : std::optional(found->check);
}

}  // namespace hotplug
