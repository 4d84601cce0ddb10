// SPDX-License-Identifier: GPL-2.0
// Purpose: the timeline of a removal and its replug as inline SVG: one bar for each milestone.
// Thread: pure functions.
#pragma once

#include <string>

#include "hotplug/judge/verdict.h"

namespace hotplug {

/// Milestones that did not come are drawn as such. Colours come from the page's style sheet
/// (html.cpp).
std::string timeline_svg(const Episode& episode);

}  // namespace hotplug
