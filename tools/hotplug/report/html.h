// SPDX-License-Identifier: GPL-2.0
// Purpose: one self-contained page: the matrix, and each row's evidence and timelines. Nothing is
// fetched from elsewhere. Thread: pure functions.
#pragma once

#include <string>

#include "hotplug/judge/verdict.h"

namespace hotplug {

/// Well-formed XML, too, so that any tool can read it.
std::string format_html(const RunReport& report);

}  // namespace hotplug
