// SPDX-License-Identifier: GPL-2.0
// Purpose: deadlines pass, shorten, and end at an interruption.
// Thread: one.
#include "hotplug/base/deadline.h"

#include <gtest/gtest.h>

#include <thread>

namespace hotplug {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

class DeadlineTest : public testing::Test {
protected:
    ~DeadlineTest() override {
        Deadline::clear_interruption();
        Deadline::lift_limit();
    }
};

TEST_F(DeadlineTest, Passes) {
    EXPECT_TRUE(Deadline::after(milliseconds(0)).expired());
    EXPECT_FALSE(Deadline::after(hours(1)).expired());
    EXPECT_EQ(Deadline::after(milliseconds(-5)).remaining(), Deadline::Clock::duration::zero());
}

TEST_F(DeadlineTest, WithinNeverProlongs) {
    Deadline deadline = Deadline::after(milliseconds(0));
    EXPECT_TRUE(deadline.within(hours(1)).expired());
    EXPECT_TRUE(Deadline::after(hours(1)).within(milliseconds(0)).expired());
}

TEST_F(DeadlineTest, InterruptionEndsAllButCleanup) {
    Deadline before = Deadline::after(hours(1));
    Deadline cleanup = Deadline::for_cleanup(hours(1));
    Deadline::interrupt_all();
    EXPECT_TRUE(before.expired());
    EXPECT_TRUE(Deadline::after(hours(1)).expired());
    EXPECT_FALSE(cleanup.expired());
    EXPECT_FALSE(cleanup.within(hours(1)).expired());
    EXPECT_EQ(before.missed("rain"), "interrupted while waiting for rain");
}

TEST_F(DeadlineTest, LimitEndsAllButCleanupWhenItHasPassed) {
    Deadline::limit_all(hours(1));
    EXPECT_FALSE(Deadline::interrupted());
    EXPECT_FALSE(Deadline::out_of_time());
    Deadline before = Deadline::after(hours(1));
    Deadline::limit_all(milliseconds(0));
    EXPECT_TRUE(Deadline::interrupted());
    EXPECT_TRUE(Deadline::out_of_time());
    EXPECT_TRUE(before.expired());
    EXPECT_EQ(before.missed("rain"), "out of time while waiting for rain");
    EXPECT_FALSE(Deadline::for_cleanup(hours(1)).expired());
    Deadline::interrupt_all();
    EXPECT_FALSE(Deadline::out_of_time()) << "who interrupts wants to be told of that";
    Deadline::clear_interruption();
    Deadline::lift_limit();
    EXPECT_FALSE(Deadline::interrupted());
}

TEST_F(DeadlineTest, MissedNamesWhatWasAwaited) {
    EXPECT_EQ(Deadline::after(milliseconds(0)).missed("rain"), "waited 0.0 s in vain for rain");
}

TEST_F(DeadlineTest, PollTimeoutIsOneSliceAtMost) {
    EXPECT_EQ(Deadline::after(hours(1)).poll_timeout_ms(), Deadline::slice.count());
    EXPECT_EQ(Deadline::after(milliseconds(0)).poll_timeout_ms(), 0);
}

TEST_F(DeadlineTest, WaitSeesTheConditionAndTheInterruption) {
    std::mutex mutex;
    std::condition_variable changed;
    bool ready = false;
    std::thread other([&] {
        std::lock_guard lock(mutex);
        ready = true;
        changed.notify_all();
    });
    {
        std::unique_lock lock(mutex);
        EXPECT_TRUE(Deadline::after(hours(1)).wait(changed, lock, [&] { return ready; }));
    }
    other.join();
    Deadline::interrupt_all();
    std::unique_lock lock(mutex);
    EXPECT_FALSE(Deadline::after(hours(1)).wait(changed, lock, [] { return false; }));
}

}  // namespace
}  // namespace hotplug
