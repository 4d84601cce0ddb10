// SPDX-License-Identifier: GPL-2.0
// Purpose: the result of a sweep as text: what was tried, how fast, what failed, and how to see
// each failure again. Thread: pure functions.
#pragma once

#include <string>
#include <vector>

#include "hotplug/sweep/sweep_journal.h"

namespace hotplug {

/// `hpctl sweep PHASE --at ACCESS ...`
std::string replay_command(const SweepJournal& journal, const SweepPoint& point);

/// One line for each failing point: how to see it again.
std::vector<std::string> replay_commands(const SweepJournal& journal);

/// The table of phases, points per hour, the failures by kernel stack, and, where a point was tried
/// more than once, how often the accesses before it were the same.
std::string format_sweep(const SweepJournal& journal);

}  // namespace hotplug
