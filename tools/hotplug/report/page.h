// SPDX-License-Identifier: GPL-2.0
// Purpose: the page that people look at: one run, two beside each other, or the same rows on many
// kernels. One file that fetches nothing: style and script (page.css, page.js) are part of it, and
// without the script only the comforts that page.js names are missing. Thread: pure functions.
#pragma once

#include <span>
#include <string>

#include "hotplug/judge/verdict.h"
#include "hotplug/report/compare.h"

namespace hotplug {

/// Well-formed XML, too, so that any tool can read it.
std::string format_page(std::span<const LoadedRun> runs);
/// Of one run, with what its cycles and tries add up to.
std::string format_page(const RunReport& report);

}  // namespace hotplug
