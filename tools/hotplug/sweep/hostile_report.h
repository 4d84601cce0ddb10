// SPDX-License-Identifier: GPL-2.0
// Purpose: the result of `hpctl hostile` as text: how many lies were told on which surface, about
// what, and what came of them. Thread: pure functions.
#pragma once

#include <string>
#include <vector>

#include "hotplug/sweep/hostile_journal.h"

namespace hotplug {

/// One line for each cycle that failed: how to see it again.
std::vector<std::string> replay_commands(const HostileJournal& journal);

/// The tables of rows and of surfaces, cycles per hour, and the failures by kernel stack.
std::string format_hostile(const HostileJournal& journal);

}  // namespace hotplug
