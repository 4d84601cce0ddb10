// SPDX-License-Identifier: GPL-2.0
// Purpose: what a scenario may not say although each of its members is well-formed: the order of
// steps, and cycles. Thread: pure functions.
#pragma once

#include "hotplug/scenario/scenario.h"

namespace hotplug {

/// Throws a Refusal (node.h).
void check_scenario(const Scenario& scenario);

}  // namespace hotplug
