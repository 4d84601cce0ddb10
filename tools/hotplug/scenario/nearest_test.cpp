// SPDX-License-Identifier: GPL-2.0
// Purpose: what a misspelt word may stand for. Thread: one.
#include "hotplug/scenario/nearest.h"

#include <gtest/gtest.h>

namespace hotplug {
namespace {

TEST(Nearest, DistanceCountsSingleSlips) {
    EXPECT_EQ(edit_distance("", ""), 0U);
    EXPECT_EQ(edit_distance("abc", ""), 3U);
    EXPECT_EQ(edit_distance("hang", "hang"), 0U);
    EXPECT_EQ(edit_distance("hang", "hnag"), 1U);
    EXPECT_EQ(edit_distance("hang", "han"), 1U);
    EXPECT_EQ(edit_distance("hang", "haang"), 1U);
    EXPECT_EQ(edit_distance("hang", "gang"), 1U);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Nearest, OneOrTwoNearestFirstAndNothingFarOff) {
    const std::vector<std::string> known = {"surprise",  "surprise/idle", "surprise/busy",
                                            "hang/idle", "hang/busy",     "hang/idle"};
    EXPECT_EQ(nearest("surprise/idel", known), (std::vector<std::string>{"surprise/idle"}));
    EXPECT_EQ(nearest("hang/usy", known), (std::vector<std::string>{"hang/busy"}));
    EXPECT_EQ(nearest("hang/idly", known), (std::vector<std::string>{"hang/idle"}));
    EXPECT_EQ(nearest("surprise/isy", known),
              (std::vector<std::string>{"surprise/busy", "surprise/idle"}));
    EXPECT_TRUE(nearest("nonsense", known).empty());
}

}  // namespace
}  // namespace hotplug
