// SPDX-License-Identifier: GPL-2.0
// Purpose: how soon a leak is told, and that noise of many kinds is never called one.
// Thread: one.
#include "hotplug/judge/slab_growth.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <random>
#include <vector>

namespace hotplug {
namespace {

using Series = std::function<double(unsigned cycle)>;

/// The first cycle in which a cache of that many objects is said to grow.
std::optional<unsigned> told_in(const Series& objects, unsigned cycles = 200) {
    SlabGrowth growth;
    for (unsigned cycle = 1; cycle <= cycles; ++cycle) {
        const double count = std::max(0.0, objects(cycle));
        if (!growth.add_cycle({{"c", static_cast<uint64_t>(count)}}).empty()) {
            return cycle;
        }
    }
    return std::nullopt;
}

TEST(SlabGrowth, OneObjectACycleIsToldInTheSixteenth) {
    EXPECT_EQ(told_in([](unsigned cycle) { return cycle; }), 16U);
    EXPECT_EQ(told_in([](unsigned cycle) { return 15'700 + 17 * cycle; }), 16U);
}

TEST(SlabGrowth, LessThanAnObjectACycleIsTold) {
    EXPECT_LE(told_in([](unsigned cycle) { return cycle / 2; }).value_or(999), 28U);
    EXPECT_LE(told_in([](unsigned cycle) { return cycle / 4; }).value_or(999), 36U);
    EXPECT_LE(told_in([](unsigned cycle) { return cycle / 10; }).value_or(999), 100U);
}

TEST(SlabGrowth, TellsOnceForEachStretch) {
    SlabGrowth growth;
    unsigned told = 0;
    for (unsigned cycle = 1; cycle <= 40; ++cycle) {
        const auto lines =
            growth.add_cycle({{"drm_sched_fence", cycle}, {"gpu_buddy_block", cycle}});
        told += lines.size();
        if (cycle == 16) {
            EXPECT_EQ(lines, std::vector<std::string>{"slab drm_sched_fence grows: 16 objects, 11 "
                                                      "cycles ago 5: 1.0 a cycle"});
        }
    }
    EXPECT_EQ(told, 3U) << "of each twelve cycles after the first four";
}

TEST(SlabGrowth, LeakUnderNoiseIsTold) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        std::mt19937 random(seed);
        std::normal_distribution<double> noise(0, 10);
        EXPECT_LE(
            told_in([&](unsigned cycle) { return 500 + cycle + noise(random); }, 300).value_or(999),
            160U)
            << seed;
    }
    // The clients of the other GPU have hundreds of fences, but not at the end of each cycle.
    EXPECT_LE(told_in([](unsigned cycle) {
                  return 96 + (cycle % 4 == 0 ? 0 : 300) + cycle;
              }).value_or(999),
              60U);
}

TEST(SlabGrowth, WhatCameOnceIsNone) {
    EXPECT_FALSE(told_in(
        [](unsigned cycle) { return 10'000 + (cycle > 2 ? 500 : 0) + (cycle > 10 ? 64 : 0); }));
    for (unsigned step = 5; step < 120; ++step) {
        EXPECT_FALSE(told_in([&](unsigned cycle) { return cycle > step ? 100 : 0; })) << step;
        EXPECT_FALSE(told_in([&](unsigned cycle) {
            return (cycle > step ? 100 : 0) + (cycle > step + 9 ? 30 : 0);
        })) << step;
    }
}

TEST(SlabGrowth, WhatComesAndGoesIsNone) {
    EXPECT_FALSE(told_in([](unsigned cycle) { return cycle % 4 == 0 ? 96 : 400; }));
    EXPECT_FALSE(told_in([](unsigned cycle) { return 100 + cycle % 8; })) << "a saw";
    EXPECT_FALSE(told_in([](unsigned cycle) { return 200 - std::min(cycle, 150U); })) << "it falls";
    EXPECT_FALSE(told_in([](unsigned cycle) { return 100 + 400.0 / cycle; }));
}

TEST(SlabGrowth, FillingUpIsNoneOnceItIsFull) {
    EXPECT_FALSE(told_in([](unsigned cycle) { return 100 + 20 * std::min(cycle, 5U); }));
}

/// 400 caches of 200 cycles: noise that is small, large, rare, or lasts for some cycles.
TEST(SlabGrowth, NoiseIsNeverCalledALeak) {
    for (unsigned seed = 0; seed < 100; ++seed) {
        std::mt19937 random(seed);
        std::normal_distribution<double> normal(0, 1 + seed % 50);
        std::uniform_int_distribution<int> uniform(0, 1 + static_cast<int>(seed % 7));
        std::bernoulli_distribution rare(0.1);
        double lasting = 0;
        EXPECT_FALSE(told_in([&](unsigned) { return 1000 + normal(random); })) << seed;
        EXPECT_FALSE(told_in([&](unsigned) { return 20 + uniform(random); })) << seed;
        EXPECT_FALSE(told_in([&](unsigned) { return rare(random) ? 700 : 30; })) << seed;
        EXPECT_FALSE(told_in([&](unsigned) {
            lasting = lasting * 0.5 + normal(random);
            return 1000 + lasting;
        })) << seed;
    }
}

/// Kernfs nodes and dentries after each of some losses with fifty processes on the `fast` series
/// kernel, without and with `drop_caches` before each count.
TEST(SlabGrowth, RecordedCountsWithDroppedCachesDoNotGrow) {
    const std::vector<uint64_t> dropped = {15'840, 15'717, 15'774, 15'840, 15'717, 15'774};
    EXPECT_LT(trend_of(dropped).ratio, 1);
    const std::vector<uint64_t> kept = {15'724, 15'845, 15'886, 15'936};
    EXPECT_GT(trend_of(kept).ratio, 3);
}

}  // namespace
}  // namespace hotplug
