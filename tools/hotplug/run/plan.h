// SPDX-License-Identifier: GPL-2.0
// Purpose: what is known of a run before anything is booted: which rows share a guest, and which
// the machine cannot run. Thread: pure functions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hotplug/run/guest_facts.h"
#include "hotplug/scenario/catalogue.h"

namespace hotplug {

/// Does the row begin on a guest that has run no other?
bool wants_fresh_guest(const Row& row);

/// Why the row cannot run on a machine with so many GPUs, this profile and this topology; empty:
/// it can. Reads nothing else of `facts`.
std::string unmet_by_machine(const Requirements& needed, const GuestFacts& facts);
/// The same of a guest that runs: its kernel and its image count, too.
std::string unmet(const Requirements& needed, const GuestFacts& facts);

/// The rows in guests, as the run would begin them; machine: see unmet_by_machine(). A row that
/// damages its guest leaves the next one another, which nobody knows before.
std::string describe_plan(std::span<const Row> rows, const GuestFacts& machine);

}  // namespace hotplug
