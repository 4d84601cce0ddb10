// SPDX-License-Identifier: GPL-2.0
// Purpose: compares the guest before and after a row: what the driver did not give back.
// Thread: pure functions.
// Not modelled: memory that no cache, node or minor accounts for; kmemleak sees that on the debug
// kernel.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "hotplug/guest/guest_state.h"
#include "hotplug/judge/slab_growth.h"

namespace hotplug {

/// So many more objects than before a slab cache may hold after one row. Both states are taken when
/// the caches have given back what is free. The driver's tolerance is what Debian's 7.3 was seen to
/// leave (recorded/limits.json), presumably free objects that each CPU keeps. kernfs nodes, address
/// spaces and pids are the whole guest's: its own processes and kernel threads come and go. A leak
/// of one object a removal shows in the cycles of a soak and not in one row: SlabGrowth.
inline constexpr uint64_t slab_tolerance_driver = 180;
inline constexpr uint64_t slab_tolerance_system = 71;

/// Nodes of GPUs that were gone which a process had open at some time between the two states, by
/// name; a GPU that was held by way of /dev/kfd, by its PCI address. While that lasts, a new
/// instance of the driver gets other minors and keeps them, and that is right.
using Orphans = std::set<std::string>;

/// The highest DRM minor that no leak is needed for: that of before, and for each orphaned instance
/// as many more as a GPU had render nodes, those of its partitions included.
uint64_t highest_allowed_minor(const GuestState& before, const Orphans& orphans);

/// One line for each leak: DRM nodes and KFD nodes of a GPU that is not there, a DRM minor above
/// the allowed one, a node that is still held open by whom, slab caches beyond the tolerance,
/// processes in D state.
std::vector<std::string> find_leaks(const GuestState& before, const GuestState& after,
                                    const Orphans& orphans = {});

/// One line for each reason why nothing more can be done with the guest: a GPU without driver or
/// nodes, a process in D state.
std::vector<std::string> find_obstacles(const GuestState& before, const GuestState& after);

/// One line for each difference that makes the guest unfit for the next row: obstacles, leaks, a
/// taint.
std::vector<std::string> find_differences(const GuestState& before, const GuestState& after,
                                          const Orphans& orphans = {});

/// What the rows of one boot leave to those after them.
struct GuestHistory {
    std::set<std::string> known_leaks;  ///< kmemleak tells all of them each time
    SlabGrowth growth;
    /// How far the kernel log is judged. What follows is the next row's, also what came before its
    /// first step.
    size_t log_judged = 0;
};

}  // namespace hotplug
