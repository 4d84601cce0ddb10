// SPDX-License-Identifier: GPL-2.0
// Purpose: a comparison, and rows by kernels, as one picture each (SVG), for a text such as README:
// proof at a glance. The page (page.h) has the rest. Thread: pure functions.
#pragma once

#include <string>

#include "hotplug/report/compare.h"
#include "hotplug/report/matrix.h"

namespace hotplug {

/// A pair of bars for each row: how long the removal took, and how often the absent device was
/// accessed.
std::string format_picture(const Comparison& comparison);
/// A square for each row on each kernel.
std::string format_picture(const Matrix& matrix);

}  // namespace hotplug
