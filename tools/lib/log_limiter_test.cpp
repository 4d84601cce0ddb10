// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of LogLimiter.
// Thread: the test's.
#include "lib/log_limiter.h"

#include <gtest/gtest.h>

#include <string>

namespace hp {
namespace {

using namespace std::chrono_literals;

class LogLimiterTest : public testing::Test {
protected:
    int lines_of(const std::string& event, int attempts) {
        int lines = 0;
        for (int count = 0; count < attempts; ++count) {
            lines += limiter.admit(event, now) ? 1 : 0;
        }
        return lines;
    }

    LogLimiter limiter;
    LogLimiter::Clock::time_point now{1h};
};

TEST_F(LogLimiterTest, ABurstAndThenAFewASecond) {
    EXPECT_EQ(lines_of("flood", 1000), LogLimiter::burst);
    now += 2 * LogLimiter::per_line;
    EXPECT_EQ(lines_of("flood", 1000), 2);
    now += 1h;
    EXPECT_EQ(lines_of("flood", 1000), LogLimiter::burst)
        << "and no more, however long it was quiet";
}

TEST_F(LogLimiterTest, WhatWasNotSaidIsCounted) {
    lines_of("flood", LogLimiter::burst + 7);
    EXPECT_EQ(limiter.admit("other", now), 0u);
    now += LogLimiter::per_line;
    EXPECT_EQ(limiter.admit("flood", now), 7u);
    now += LogLimiter::per_line;
    EXPECT_EQ(limiter.admit("flood", now), 0u);
}

TEST_F(LogLimiterTest, ManyEventsAreNotManyLines) {
    int lines = 0;
    for (size_t event = 0; event < 10 * LogLimiter::most_events; ++event) {
        lines += lines_of("event " + std::to_string(event), 1);
    }
    EXPECT_LE(lines, static_cast<int>(LogLimiter::most_events) + LogLimiter::burst);
}

}  // namespace
}  // namespace hp
