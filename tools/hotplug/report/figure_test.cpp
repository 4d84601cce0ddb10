// SPDX-License-Identifier: GPL-2.0
// Purpose: the values of checks as figures, against what the checks themselves say, and the axis.
// Thread: one.
#include "hotplug/report/figure.h"

#include <gtest/gtest.h>

#include "hotplug/judge/check.h"

namespace hotplug {
namespace {

TEST(Figures, AreThoseOfTheChecks) {
    Episode episode;
    episode.loss.remove_returned = std::chrono::milliseconds(64'600);
    episode.accesses.server = 1'303'517;
    const auto removed = [&] { return figure_of(check_removed({episode}, Limits()).value); };
    EXPECT_DOUBLE_EQ(removed()->value, 64.6);
    EXPECT_FALSE(removed()->open);
    EXPECT_DOUBLE_EQ(figure_of(check_no_access({episode}, Limits()).value)->value, 1'303'517);
    episode.loss.remove_returned.reset();
    EXPECT_TRUE(removed()->open);
    episode.loss.given_up = std::chrono::seconds(60);
    EXPECT_TRUE(removed()->open);
    EXPECT_DOUBLE_EQ(removed()->value, 60);

    KernelLogSummary log;
    EXPECT_FALSE(figure_of(check_log_clean(log).value));
    log.complaints.resize(1);
    log.complaints[0].count = 2;
    EXPECT_DOUBLE_EQ(figure_of(check_log_clean(log).value)->value, 2);
    EXPECT_DOUBLE_EQ(figure_of(check_no_leak({"a", "b", "c"}).value)->value, 3);
    EXPECT_FALSE(figure_of(check_no_leak({}).value));
    EXPECT_FALSE(figure_of(not_reached(Check::replug).value));
    EXPECT_FALSE(figure_of(""));
}

TEST(LogAxis, HasAllValuesAndNeverHidesOne) {
    LogAxis axis = {.first = 0.1};
    axis.include(100);
    EXPECT_EQ(axis.decades, 3);
    axis.include(101);
    EXPECT_EQ(axis.decades, 4);
    EXPECT_DOUBLE_EQ(axis.position(0.1), 0);
    EXPECT_DOUBLE_EQ(axis.position(10), 0.5);
    EXPECT_DOUBLE_EQ(axis.position(1e9), 1);
    EXPECT_EQ(axis.length({.value = 0}), 0) << "nothing has no bar";
    EXPECT_GT(axis.length({.value = 0.01}), 0) << "little has one";
    EXPECT_EQ(axis.length({.value = 60, .open = true}), 1);
    EXPECT_EQ(axis.tick(0), "0.1");
    EXPECT_EQ(axis.tick(3), "100");
    EXPECT_EQ((LogAxis{.first = 1}).tick(4), "10k");
    EXPECT_EQ((LogAxis{.first = 1}).tick(6), "1M");
    EXPECT_EQ((LogAxis{.first = 0.01}).tick(0), "0.01");
}

TEST(Figures, AreGroupedByThousands) {
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(999), "999");
    EXPECT_EQ(grouped(1'000), "1,000");
    EXPECT_EQ(grouped(1'303'517), "1,303,517");
    EXPECT_EQ(readable("1303517"), "1,303,517");
    for (const char* other : {"1303517 s", "> 60.0 s", "never", "-5", ""}) {
        EXPECT_EQ(readable(other), other);
    }
}

}  // namespace
}  // namespace hotplug
