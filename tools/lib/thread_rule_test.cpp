// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of ThreadRule.
// Thread: the test's, and one more.
#include "lib/thread_rule.h"

#include <gtest/gtest.h>

#include <thread>

namespace hp {
namespace {

TEST(ThreadRule, ItIsMadeByOneThreadAndUsedByAnother) {
    ThreadRule rule;
    std::thread([&] {
        rule.check();
        rule.check();
    }).join();
}

#ifndef NDEBUG
TEST(ThreadRuleDeathTest, ASecondThreadEndsTheProcess) {
    ThreadRule rule;
    rule.check();
    EXPECT_DEATH(std::thread([&] { rule.check(); }).join(), "called from another thread");
}
#endif

}  // namespace
}  // namespace hp
