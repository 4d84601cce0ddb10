// SPDX-License-Identifier: GPL-2.0
// Purpose: see repeats.h.
// Thread: pure functions.
#include "hotplug/report/repeats.h"

#include <fmt/format.h>

#include <algorithm>

namespace hotplug {

namespace {

Repeats& repeats_of(std::vector<Repeats>& all, const std::string& row) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Repeats& one) { return one.row == row; });
    return found == all.end() ? all.emplace_back(Repeats{.row = row}) : *found;
}

}  // namespace

std::vector<Repeats> summarize_repeats(const std::vector<RowResult>& rows) {
    std::vector<Repeats> all;
    for (const RowResult& row : rows) {
        if (row.attempt == 0 || row.outcome == Outcome::skip) {
            continue;
        }
        Repeats& one = repeats_of(all, row.expected_key);
        ++one.tries;
        one.failed += std::any_of(row.checks.begin(), row.checks.end(),
                                  [](const CheckResult& check) { return !check.passed; });
        one.red += is_red(row.outcome);
    }
    return all;
}

std::string format_repeats(const Repeats& repeats) {
    std::string text = fmt::format("{}: {} of {} tries failed ({:.0f} %)", repeats.row,
                                   repeats.failed, repeats.tries, 100 * repeats.rate());
    if (repeats.flaky()) {
        text += ", flaky";
    }
    if (repeats.red != repeats.failed) {
        text += fmt::format("; {} red", repeats.red);
    }
    return text;
}

nlohmann::ordered_json to_json(const Repeats& repeats) {
    return {{"row", repeats.row}, {"tries", repeats.tries}, {"failed", repeats.failed},
            {"red", repeats.red}, {"rate", repeats.rate()}, {"flaky", repeats.flaky()}};
}

}  // namespace hotplug
