// SPDX-License-Identifier: GPL-2.0
// Purpose: the arithmetic of the cost of a submission.
// Thread: one.
#include "hotplug/bench/submission_cost.h"

#include <gtest/gtest.h>

namespace hotplug {
namespace {

TEST(SubmissionCost, ReadsTheRoundsOfAClientThatEndedWell) {
    const std::string ready = R"({"state":"ready"})"
                              "\n";
    const std::string rounds = R"({"state":"result","median_ns":41000,"clock_ns":300})"
                               "\n"
                               R"({"state":"result","median_ns":41010,"clock_ns":300})"
                               "\n";
    const auto costs = read_costs(ready + rounds + R"({"state":"end","reason":"done"})");
    ASSERT_TRUE(costs) << costs.error().message;
    EXPECT_EQ(*costs, (std::vector<double>{41000, 41010}));

    EXPECT_FALSE(read_costs(ready + rounds)) << "it was cut off";
    EXPECT_FALSE(read_costs(ready + R"({"state":"end","reason":"done"})")) << "no round";
    const auto lost = read_costs(rounds + R"({"state":"end","reason":"device","errno":19})");
    ASSERT_FALSE(lost);
    EXPECT_NE(lost.error().message.find("\"errno\":19"), std::string::npos);
    EXPECT_FALSE(read_costs("Segmentation fault\n"));
}

TEST(SubmissionCost, CheapestRoundIsTheBoots) {
    EXPECT_DOUBLE_EQ(cost_of_boot({16715, 16570, 16715, 16570}), 16570);
}

TEST(SubmissionCost, MedianAndSpreadOfTheBoots) {
    EXPECT_DOUBLE_EQ((CostOfKernel{{30, 10, 20}}.median()), 20);
    EXPECT_DOUBLE_EQ((CostOfKernel{{10, 20}}.median()), 15);
    EXPECT_DOUBLE_EQ((CostOfKernel{{100, 101, 99}}.spread()), 0.02);
    EXPECT_DOUBLE_EQ((CostOfKernel{{7}}.spread()), 0);
}

TEST(SubmissionCost, RatioIsOfTheMediansAndItsSpreadOfThePairs) {
    const CostRatio ratio = compare_costs({{100, 102, 100}}, {{110, 102, 105}});
    EXPECT_DOUBLE_EQ(ratio.median, 1.05);
    EXPECT_DOUBLE_EQ(ratio.least, 1.0);
    EXPECT_DOUBLE_EQ(ratio.most, 1.1);
}

}  // namespace
}  // namespace hotplug
