// SPDX-License-Identifier: GPL-2.0
// Purpose: how often each row failed that was tried more than once (--repeat). Thread: pure
// functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hotplug/judge/verdict.h"

namespace hotplug {

struct Repeats {
    std::string row;      ///< without the attempt and the cycle
    unsigned tries = 0;   ///< those that were skipped do not count
    unsigned failed = 0;  ///< tries with a check that failed, known or not
    unsigned red = 0;     ///< those that fail the run

    double rate() const { return static_cast<double>(failed) / tries; }
    /// It depends on something that is not the same each time.
    bool flaky() const { return failed != 0 && failed != tries; }
};

/// One for each row with attempts, in the order of the first ones.
std::vector<Repeats> summarize_repeats(const std::vector<RowResult>& rows);

/// "hang/idle: 3 of 10 tries failed (30 %), flaky; 1 red"
std::string format_repeats(const Repeats& repeats);
nlohmann::ordered_json to_json(const Repeats& repeats);

}  // namespace hotplug
