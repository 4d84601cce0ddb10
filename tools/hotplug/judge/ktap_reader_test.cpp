// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of ktap_reader.h.
#include "hotplug/judge/ktap_reader.h"

#include <gtest/gtest.h>

namespace hotplug {
namespace {

TEST(KtapTest, ResultsAreFoundAmongPlansCommentsAndSubtests) {
    const auto results = parse_ktap(
        "KTAP version 1\n"
        "1..4\n"
        "# ttm_device: begins\n"
        "ok 1 ttm_device.init_basic\n"
        "    not ok 1 a parameter that has its own line\n"
        "not ok 2 - ttm_device.clear # 5 ms\r\n"
        "ok 3 ttm_device.pools # SKIP no such pool\n"
        "not ok 4 ttm_device.late # SKIP is a failure all the same");
    ASSERT_EQ(results.size(), 4U);
    EXPECT_EQ(results[0].name, "ttm_device.init_basic");
    EXPECT_EQ(results[0].outcome, TestOutcome::pass);
    EXPECT_EQ(results[1].name, "ttm_device.clear");
    EXPECT_EQ(results[0].note, "");
    EXPECT_EQ(results[1].outcome, TestOutcome::fail);
    EXPECT_EQ(results[1].note, "5 ms");
    EXPECT_EQ(results[2].name, "ttm_device.pools");
    EXPECT_EQ(results[2].outcome, TestOutcome::skip);
    EXPECT_EQ(results[2].note, "no such pool");
    EXPECT_EQ(results[3].outcome, TestOutcome::fail);
}

TEST(KtapTest, ASkipWithoutANameIsNoPass) {
    const auto results = parse_ktap("ok 2 # SKIP needs /dev/kfd\n");
    ASSERT_EQ(results.size(), 1U);
    EXPECT_EQ(results[0].name, "test 2");
    EXPECT_EQ(results[0].outcome, TestOutcome::skip);
    EXPECT_EQ(results[0].note, "needs /dev/kfd");
}

TEST(KtapTest, OtherTextHasNone) {
    for (const char* text : {"", "\n", "ok", "ok ", "ok 1", "ok 1 ", "ok 1 - ", "ok one two",
                             "okay 1 two", "not ok", "it is ok 1 two", "ok 12two"}) {
        EXPECT_TRUE(parse_ktap(text).empty()) << text;
    }
}

}  // namespace
}  // namespace hotplug
