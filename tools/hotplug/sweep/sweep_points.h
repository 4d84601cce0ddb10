// SPDX-License-Identifier: GPL-2.0
// Purpose: which accesses of a phase are tried, in which order, and by which shard.
// Thread: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/result.h"

namespace hotplug {

/// Shard 2 of 3 takes every third point.
struct Shard {
    uint64_t index = 1;  ///< from 1
    uint64_t of = 1;
};

/// "2/3"
hp::Result<Shard> parse_shard(const std::string& text);

/// From 0 to below 1: what the seed draws at that turn.
double draw_share(uint64_t seed, uint64_t turn);

struct PlannedPoint {
    uint64_t number = 0;  ///< from 1, in order of the accesses; says which shard takes it
    uint64_t access = 0;  ///< from 1
};

/// How many points a phase of `accesses` accesses has when `wanted` were asked for; 0: all.
uint64_t point_count(uint64_t accesses, uint64_t wanted);

/// The phase is cut into as many stretches of equal length as there are points, and the seed draws
/// one access of each. The order is the seed's, too, so that a sweep that is broken off has tried
/// accesses of the whole phase.
std::vector<PlannedPoint> plan_points(std::string_view phase, uint64_t accesses, uint64_t wanted,
                                      uint64_t seed, const Shard& shard);

}  // namespace hotplug
