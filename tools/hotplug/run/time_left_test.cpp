// SPDX-License-Identifier: GPL-2.0
// Purpose: tests for time_left.h.
// Thread: one.
#include "hotplug/run/time_left.h"

#include <gtest/gtest.h>

#include "lib/temp_tree.h"

namespace hotplug {
namespace {

using namespace std::chrono_literals;

class TimeLeftTest : public testing::Test {
protected:
    double left() const { return time_left_.left(now_)->count(); }
    void pass(std::chrono::seconds time) { now_ += time; }

    TimeLeft::Clock::time_point now_{};
    TimeLeft time_left_;
    hp::TempTree tree_;
};

TEST_F(TimeLeftTest, KnowsNothingBeforeTheFirstRow) {
    time_left_.begin(3, now_);
    EXPECT_FALSE(time_left_.left(now_));
    pass(20s);
    time_left_.finished("a", now_);
    EXPECT_DOUBLE_EQ(left(), 40) << "two more like it";
    pass(5s);
    EXPECT_DOUBLE_EQ(left(), 35);
    pass(25s);
    EXPECT_DOUBLE_EQ(left(), 20) << "a late row has no time left, and owes none";
    time_left_.finished("b", now_);
    time_left_.finished("c", now_);
    EXPECT_DOUBLE_EQ(left(), 0);
}

TEST_F(TimeLeftTest, GoesByAnEarlierRunAtThePaceOfThisOne) {
    // 40 s of rows and 20 s for two boots.
    tree_.file("results.json", R"({"duration_s": 60, "boots": 2, "rows": [
        {"id": "a", "duration_s": 10, "fresh_boot": true},
        {"id": "b", "duration_s": 10, "fresh_boot": false},
        {"id": "c", "duration_s": 20, "fresh_boot": true}]})");
    time_left_ = TimeLeft(tree_.root() / "results.json", {"a", "b", "c", "new"});
    time_left_.begin(4, now_);
    EXPECT_DOUBLE_EQ(left(), 20 + 10 + 30 + 20) << "a new one is like the others";
    pass(40s);
    time_left_.finished("a", now_);
    EXPECT_DOUBLE_EQ(left(), 20 + 60 + 40) << "twice as slow as then";
}

TEST_F(TimeLeftTest, TakesNoOtherFileForARun) {
    tree_.file("results.json", R"({"rows": [{"outcome": "pass"}]})");
    time_left_ = TimeLeft(tree_.root() / "results.json", {"a"});
    time_left_.begin(1, now_);
    EXPECT_FALSE(time_left_.left(now_));
}

TEST(RoughText, IsNoMoreExactThanItCanBe) {
    EXPECT_EQ(rough_text(0s), "0 s");
    EXPECT_EQ(rough_text(33s), "40 s");
    EXPECT_EQ(rough_text(100s), "2 min");
    EXPECT_EQ(rough_text(170s), "3 min");
    EXPECT_EQ(rough_text(7500s), "2 h 05 min");
}

}  // namespace
}  // namespace hotplug
