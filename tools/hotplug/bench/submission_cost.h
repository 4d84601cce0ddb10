// SPDX-License-Identifier: GPL-2.0
// Purpose: what the client submission_cost measured on one kernel or two, added up: medians, how
// far they spread, the ratio. Thread: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/result.h"

namespace hotplug {

/// Of one boot: the medians of its rounds, in instructions.
hp::Result<std::vector<double>> read_costs(std::string_view client_output);

/// Of the rounds of a boot the cheapest: what the driver gives to a context depends on what was
/// there before.
double cost_of_boot(const std::vector<double>& rounds);

struct CostOfKernel {
    std::vector<double> boots;  ///< each the least of the medians of its rounds

    double median() const;
    /// The distance of the farthest two boots, as a part of the median.
    double spread() const;
};

/// How the second kernel compares with the first. Boots are paired in their order.
struct CostRatio {
    double median = 1;  ///< of the two medians
    double least = 1;   ///< of the pairs
    double most = 1;
};

CostRatio compare_costs(const CostOfKernel& kernel, const CostOfKernel& against);

/// Boots of one kernel that differ by more than this tell nothing about a difference of half a
/// percent.
inline constexpr double cost_repeatable = 0.0025;

}  // namespace hotplug
