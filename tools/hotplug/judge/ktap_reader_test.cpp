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

TEST(KtapTest, FewerOrMoreResultsThanPlannedAreAFailure) {
    const auto few = parse_ktap("KTAP version 1\n1..3\nok 1 a\nok 2 b\n");
    ASSERT_EQ(few.size(), 3U);
    EXPECT_EQ(few[2].name, "plan");
    EXPECT_EQ(few[2].outcome, TestOutcome::fail);
    EXPECT_EQ(few[2].note, "2 of 3 tests have a result");
    const auto more = parse_ktap("1..1\nok 1 a\nok 2 b\n");
    ASSERT_EQ(more.size(), 3U);
    EXPECT_EQ(more[2].note, "2 of 1 tests have a result");
    const auto none = parse_ktap("TAP version 13\n1..2");
    ASSERT_EQ(none.size(), 1U);
    EXPECT_EQ(none[0].note, "0 of 2 tests have a result");
}

TEST(KtapTest, EachProgramKeepsItsOwnPlan) {
    EXPECT_EQ(parse_ktap("KTAP version 1\n1..1\nok 1 a\nKTAP version 1\n1..1\nok 1 b\n").size(),
              2U);
    EXPECT_EQ(parse_ktap("1..1\nok 1 a\n1..1\nok 1 b\n").size(), 2U) << "without version lines";
    EXPECT_EQ(parse_ktap("TAP version 13\nok 1 a\nok 2 b\n1..2\n").size(), 2U)
        << "a plan may come last";
    EXPECT_TRUE(parse_ktap("1..0 # SKIP no such board\n").empty());
    EXPECT_EQ(parse_ktap("ok 1 a\nok 2 b\n").size(), 2U) << "there is none to keep";
    const auto first = parse_ktap("KTAP version 1\n1..2\nok 1 a\nKTAP version 1\n1..1\nok 1 b\n");
    ASSERT_EQ(first.size(), 3U);
    EXPECT_EQ(first[1].name, "plan") << "the first program's, where it ended";
}

TEST(KtapTest, BailOutIsAFailure) {
    const auto results = parse_ktap("1..2\nok 1 a\nBail out! no GPU left\n");
    ASSERT_EQ(results.size(), 3U);
    EXPECT_EQ(results[1].name, "Bail out!");
    EXPECT_EQ(results[1].outcome, TestOutcome::fail);
    EXPECT_EQ(results[1].note, "no GPU left");
    EXPECT_EQ(results[2].note, "1 of 2 tests have a result");
}

TEST(KtapTest, OtherTextHasNone) {
    for (const char* text : {"", "\n", "ok", "ok ", "ok 1", "ok 1 ", "ok 1 - ", "ok one two",
                             "okay 1 two", "not ok", "it is ok 1 two", "ok 12two"}) {
        EXPECT_TRUE(parse_ktap(text).empty()) << text;
    }
}

}  // namespace
}  // namespace hotplug
