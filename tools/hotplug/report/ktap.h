// SPDX-License-Identifier: GPL-2.0
// Purpose: KTAP version 1 (Documentation/dev-tools/ktap.rst of the kernel): a test for each row, a
// subtest for each check. Thread: pure functions.
#pragma once

#include <string>

#include "hotplug/judge/verdict.h"

namespace hotplug {

std::string format_ktap(const RunReport& report);

}  // namespace hotplug
