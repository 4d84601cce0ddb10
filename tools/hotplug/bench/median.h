// SPDX-License-Identifier: GPL-2.0
// Purpose: the median of some figures. Thread: pure function.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace hotplug {

/// Of an even number of values the mean of the middle two. There has to be one.
inline double median_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace hotplug
