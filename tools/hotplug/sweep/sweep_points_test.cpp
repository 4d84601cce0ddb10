// SPDX-License-Identifier: GPL-2.0
// Purpose: the points of a sweep: spread evenly, drawn by the seed, cut into shards.
// Thread: one.
#include "hotplug/sweep/sweep_points.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace hotplug {
namespace {

std::vector<uint64_t> accesses_of(const std::vector<PlannedPoint>& points) {
    std::vector<uint64_t> accesses;
    for (const PlannedPoint& point : points) {
        accesses.push_back(point.access);
    }
    return accesses;
}

TEST(SweepPointsTest, AllMeansEachAccessOnce) {
    auto accesses = accesses_of(plan_points("probe", 500, 0, 1, {}));
    EXPECT_FALSE(std::is_sorted(accesses.begin(), accesses.end())) << "broken off, it is a sample";
    std::sort(accesses.begin(), accesses.end());
    ASSERT_EQ(accesses.size(), 500U);
    for (uint64_t i = 0; i < 500; ++i) {
        EXPECT_EQ(accesses[i], i + 1);
    }
    EXPECT_EQ(plan_points("probe", 5, 100, 1, {}).size(), 5U) << "no more than there are";
    EXPECT_TRUE(plan_points("probe", 0, 100, 1, {}).empty());
}

TEST(SweepPointsTest, EachStretchHasOnePoint) {
    const auto points = plan_points("probe", 8163, 100, 7, {});
    ASSERT_EQ(points.size(), 100U);
    for (const PlannedPoint& point : points) {
        EXPECT_GT(point.access, (point.number - 1) * 8163 / 100);
        EXPECT_LE(point.access, point.number * 8163 / 100);
    }
}

TEST(SweepPointsTest, TheSeedDraws) {
    const auto points = accesses_of(plan_points("probe", 8163, 100, 7, {}));
    EXPECT_EQ(accesses_of(plan_points("probe", 8163, 100, 7, {})), points);
    EXPECT_NE(accesses_of(plan_points("probe", 8163, 100, 8, {})), points);
    EXPECT_NE(accesses_of(plan_points("reset", 8163, 100, 7, {})), points);
    EXPECT_EQ(points[0], 951U) << "a seed means the same on every host";
}

TEST(SweepPointsTest, ShardsAddUpToTheWhole) {
    const auto whole = accesses_of(plan_points("probe", 8163, 100, 7, {}));
    std::multiset<uint64_t> together;
    for (uint64_t shard = 1; shard <= 3; ++shard) {
        for (const uint64_t access : accesses_of(plan_points("probe", 8163, 100, 7, {shard, 3}))) {
            together.insert(access);
        }
    }
    EXPECT_EQ(together, std::multiset<uint64_t>(whole.begin(), whole.end()));
}

TEST(SweepPointsTest, AShardIsOneOfSoMany) {
    const auto shard = parse_shard("2/3");
    ASSERT_TRUE(shard);
    EXPECT_EQ(shard->index, 2U);
    EXPECT_EQ(shard->of, 3U);
    for (const char* wrong : {"", "2", "0/3", "4/3", "1/0", "a/3", "1/3x", "-1/3"}) {
        EXPECT_FALSE(parse_shard(wrong)) << wrong;
    }
}

}  // namespace
}  // namespace hotplug
