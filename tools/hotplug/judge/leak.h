// SPDX-License-Identifier: GPL-2.0
// Purpose: compares the guest before and after a row: what the driver did not give back.
// Thread: pure functions.
// Not modelled: memory that no cache, node or minor accounts for; kmemleak sees that on the debug
// kernel.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "hotplug/guest/guest_state.h"

namespace hotplug {

/// A slab cache may hold that many more objects than before: half-filled slabs and per-CPU lists
/// are no leak. A leak of one object per removal shows in the cycles, not in one row: SlabGrowth.
constexpr uint64_t kSlabToleranceObjects = 64;
constexpr uint64_t kSlabTolerancePercent = 10;

/// Nodes of GPUs that were gone which a process had open at some time between the two states, by
/// name. While it does, a new instance of the driver gets other minors and keeps them, and that is
/// right.
using Orphans = std::set<std::string>;

/// The highest DRM minor that no leak is needed for: that of before, and for each orphaned instance
/// as many more as there were render nodes.
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

/// Watches the slab caches over the cycles of a soak on one guest. What a cycle may leave behind
/// without being a leak, it must not leave each time. Clients of the other GPU work on meanwhile,
/// and what they have at the moment comes and goes: the fewest objects of a few cycles count.
class SlabGrowth {
public:
    /// Takes in the caches at the end of a cycle. One line for each that has grown since the first
    /// cycles by more than the tolerance, and by an object a cycle or more; then it counts anew.
    /// The first eight cycles say what there was.
    std::vector<std::string> add_cycle(const std::map<std::string, uint64_t>& slab);

private:
    struct Cache {
        std::deque<uint64_t> recent;  ///< objects at the end of the last cycles
        uint64_t start = 0;           ///< the fewest of some cycles
        unsigned cycle = 0;           ///< the last of these
    };

    unsigned cycles_ = 0;
    std::map<std::string, Cache> caches_;
};

/// What the rows of one boot leave to those after them.
struct GuestHistory {
    std::set<std::string> known_leaks;  ///< kmemleak tells all of them each time
    SlabGrowth growth;
    /// How far the kernel log is judged. What follows is the next row's, also what came before its
    /// first step.
    size_t log_judged = 0;
};

}  // namespace hotplug
