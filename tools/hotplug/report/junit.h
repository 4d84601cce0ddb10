// SPDX-License-Identifier: GPL-2.0
// Purpose: JUnit XML, as GitLab and the usual actions of GitHub show it: a test case for each row,
// for each test of a program that it ran, and for each kind of flaw of the run itself.
// Thread: pure functions.
#pragma once

#include <string>

#include "hotplug/judge/verdict.h"

namespace hotplug {

std::string format_junit(const RunReport& report);

}  // namespace hotplug
