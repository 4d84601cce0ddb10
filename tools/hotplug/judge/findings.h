// SPDX-License-Identifier: GPL-2.0
// Purpose: failures told apart by the kernel's stack: of the points of a sweep and of the cycles of
// a run, where one defect shows in many places. Thread: values and pure functions.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hotplug/judge/verdict.h"

namespace hotplug {

/// The kernel's complaint, or a check that failed without one.
struct Finding {
    std::string title;
    std::vector<std::string> stack;  ///< innermost first; empty: no complaint

    /// Findings with the same key are one group.
    std::string key() const;
};

/// Of one row; empty when nothing failed.
std::vector<Finding> findings_of(const RowResult& row);

struct FindingGroup {
    Finding finding;
    std::vector<size_t> places;  ///< where it was found, in their order
    /// Checks that failed there as well, most likely because of it.
    std::set<std::string> consequences;
};

/// One for each key, the most frequent first. `places`: what was found in each of them.
std::vector<FindingGroup> group_findings(std::span<const std::vector<Finding>> places);

/// Title, stack and consequences. `times`: "3 points".
std::string format_group(const FindingGroup& group, std::string_view times);

/// The cycles of a run that failed, with one command for each group that shows it again; empty when
/// none did.
std::string format_findings(const RunReport& report);
nlohmann::ordered_json findings_json(const RunReport& report);

}  // namespace hotplug
