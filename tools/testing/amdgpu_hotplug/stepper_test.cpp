// SPDX-License-Identifier: GPL-2.0
#include "testing/amdgpu_hotplug/stepper.h"

#include <gtest/gtest.h>

#include "testing/amdgpu_hotplug/state_module.h"

namespace hp::model {
namespace {

class Stepper : public testing::Test {
protected:
    StateModule module_{"unmodified"};
    const hotplug_calls& calls_ = module_.calls();
    Observed observed_;
    int word_ = 0;
};

TEST_F(Stepper, StopsBetweenTheReadAndTheWrite) {
    EXPECT_FALSE(step(calls_.lose, word_, observed_));
    EXPECT_EQ(word_, HOTPLUG_PRESENT);
    EXPECT_EQ(observed_.count, 1);
    EXPECT_EQ(step(calls_.lose, word_, observed_), 1);
    EXPECT_EQ(word_, HOTPLUG_LOST);
    EXPECT_EQ(observed_.count, 0);
}

TEST_F(Stepper, ACallSeesWhatOthersDidInBetween) {
    EXPECT_FALSE(step(calls_.lose, word_, observed_));
    EXPECT_EQ(whole(calls_.reset_begin, word_), 1);
    EXPECT_FALSE(step(calls_.lose, word_, observed_)) << "the word is not what it read";
    EXPECT_EQ(word_, HOTPLUG_RESETTING);
    EXPECT_EQ(step(calls_.lose, word_, observed_), 1);
    EXPECT_EQ(word_, HOTPLUG_LOST | HOTPLUG_RESETTING);
}

TEST_F(Stepper, TwoCallsInterleaved) {
    Observed other;
    EXPECT_FALSE(step(calls_.lose, word_, observed_));
    EXPECT_FALSE(step(calls_.lose, word_, other));
    EXPECT_EQ(step(calls_.lose, word_, other), 1);
    const auto late = step(calls_.lose, word_, observed_);
    EXPECT_EQ(late, 0) << "its write fails and it sees the other's in the same step";
}

}  // namespace
}  // namespace hp::model
