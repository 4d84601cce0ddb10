// SPDX-License-Identifier: GPL-2.0
// Purpose: JUnit XML for CI systems: a test case for each row.
// Thread: pure functions.
#pragma once

#include <string>

#include "hotplug/judge/verdict.h"

namespace hotplug {

std::string format_junit(const RunReport& report);

}  // namespace hotplug
