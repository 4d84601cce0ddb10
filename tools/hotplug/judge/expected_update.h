// SPDX-License-Identifier: GPL-2.0
// Purpose: the list of known failures held against a whole run: how often failures of races came,
// and the list as it would have to be. Thread: pure functions.
#pragma once

#include <vector>

#include "hotplug/judge/expected.h"
#include "hotplug/judge/verdict.h"

namespace hotplug {

/// For rows that are judged: where a failure of a race came more often or more seldom than the list
/// has on record allows, its check fails in the last row it could have come in. Nothing else would
/// ever make such an entry red.
void judge_rates(std::vector<RowResult>& rows, const ExpectedFailures& expected);

/// The list after a run: what failed in the rows that were run, with the reasons that were known;
/// entries of other rows stay. A check that failed in some rows of an id only is a race; what is on
/// record of it and what was seen now are added up.
ExpectedFailures updated(const ExpectedFailures& known, const std::vector<RowResult>& rows);

}  // namespace hotplug
