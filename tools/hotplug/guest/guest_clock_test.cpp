// SPDX-License-Identifier: GPL-2.0
// Purpose: that of several exchanges the quickest is believed, and that a failed one changes
// nothing. Thread: one.
#include "hotplug/guest/guest_clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace hotplug {
namespace {

using std::chrono::milliseconds;

TEST(GuestClock, TheQuickestExchangeCounts) {
    GuestClock clock;
    int asked = 0;
    Deadline::Clock::time_point quick;
    // The guest's clock stands still; what a late answer says would be half its delay off.
    const auto matched = clock.match([&]() -> hp::Result<uint64_t> {
        if (++asked == 3) {
            quick = Deadline::Clock::now();
        } else {
            std::this_thread::sleep_for(milliseconds(100));
        }
        return 7'000'000;
    });
    ASSERT_TRUE(matched) << matched.error().message;
    EXPECT_NEAR(static_cast<double>(clock.guest_us(quick)), 7'000'000, 45'000);
    EXPECT_EQ(clock.guest_us(quick - std::chrono::hours(1)), 0U);
}

TEST(GuestClock, AFailedMatchLeavesTheLastOne) {
    GuestClock clock;
    ASSERT_TRUE(clock.match([] { return hp::Result<uint64_t>(9'000'000); }));
    const auto when = Deadline::Clock::now() + milliseconds(5);
    const uint64_t before = clock.guest_us(when);
    int asked = 0;
    EXPECT_FALSE(clock.match([&]() -> hp::Result<uint64_t> {
        return ++asked == 1 ? hp::Result<uint64_t>(1) : hp::fail("the guest is gone");
    }));
    EXPECT_EQ(clock.guest_us(when), before);
}

}  // namespace
}  // namespace hotplug
