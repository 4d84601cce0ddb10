// SPDX-License-Identifier: GPL-2.0
// Purpose: tells a slab cache that grows with each cycle of a soak from one that comes and goes.
// Thread: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace hotplug {

/// The buddy allocator has an object for each block of VRAM, free ones included: their number
/// follows fragmentation, and the first job after a boot leaves a hundred more. Older kernels call
/// the cache drm_buddy_block.
bool counts_free_memory(const std::string& cache);

/// A line through counts at equal distances.
struct Trend {
    double slope = 0;  ///< objects a point
    double noise =
        0;  ///< standard deviation of the points from the line, at least that of rounding
    double ratio = 0;  ///< the slope in units of its own standard error
};

/// Least squares. Of three points or more.
Trend trend_of(std::span<const uint64_t> points);

/// Do the points grow from one to the next, beyond their noise and in each third of them? What came
/// once, be it much, grows in one third only. Of fewer than twelve points never.
bool grows(std::span<const uint64_t> points);

/// Watches the caches over the cycles of a soak on one guest. What a cycle may leave behind without
/// being a leak, it must not leave each time. Clients of the other GPU work on meanwhile, and what
/// they have at the moment comes and goes: so the fewest objects of one, two, four and eight cycles
/// are looked at, the last 12, 24 and 48 such points each. An object a cycle shows after 16 cycles
/// where nothing else moves, half of one after 28; the noisier a cache, the later. Not told apart
/// from a leak: a cache that grows evenly for twelve cycles and then gives all of it back.
class SlabGrowth {
public:
    /// Takes in the caches at the end of a cycle, when they have given back what is free. One line
    /// for each that grows; then it counts anew. The first four cycles, in which each GPU is lost
    /// twice, fill caches and are not counted.
    std::vector<std::string> add_cycle(const std::map<std::string, uint64_t>& slab);

private:
    unsigned cycles_ = 0;
    std::map<std::string, std::deque<uint64_t>> counts_;  // at the end of the last cycles
};

}  // namespace hotplug
