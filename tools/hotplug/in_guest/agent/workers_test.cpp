// SPDX-License-Identifier: GPL-2.0
// Purpose: that one blocked request holds up no other, and that a late end is told. Thread: one,
// and the workers'.
#include "hotplug/in_guest/agent/workers.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <future>
#include <stdexcept>

#include "hotplug/in_guest/agent/request.h"

namespace hp::agent {
namespace {

using nlohmann::json;
using std::chrono_literals::operator""ms;

bool wait_ready(const Workers& workers) {
    pollfd ready{workers.ready_fd(), POLLIN, 0};
    return ::poll(&ready, 1, 10000) == 1;
}

TEST(Workers, AnswersWithTheRequestsId) {
    Workers workers;
    ASSERT_TRUE(workers.start(42, std::nullopt, [] { return success({{"x", 1}}); }));
    ASSERT_TRUE(wait_ready(workers));
    const auto answers = workers.take_answers();
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0], (json{{"id", 42}, {"ok", true}, {"x", 1}}));
    EXPECT_TRUE(workers.take_answers().empty());
}

TEST(Workers, OneBlockedDoesNotHoldTheOthers) {
    Workers workers;
    std::promise<void> release;
    ASSERT_TRUE(workers.start(1, std::nullopt, [gate = release.get_future().share()] {
        gate.wait();
        return success();
    }));
    ASSERT_TRUE(workers.start(2, std::nullopt, [] { return success(); }));
    ASSERT_TRUE(wait_ready(workers));
    const auto first = workers.take_answers();
    ASSERT_EQ(first.size(), 1u);
    EXPECT_EQ(first[0]["id"], 2);
    release.set_value();
    ASSERT_TRUE(wait_ready(workers));
    EXPECT_EQ(workers.take_answers().at(0)["id"], 1);
}

TEST(Workers, WorkThatThrowsIsAFailure) {
    Workers workers;
    ASSERT_TRUE(
        workers.start(7, std::nullopt, []() -> json { throw std::runtime_error("no such luck"); }));
    ASSERT_TRUE(wait_ready(workers));
    const auto answers = workers.take_answers();
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0]["id"], 7);
    EXPECT_EQ(answers[0]["ok"], false);
    EXPECT_EQ(answers[0]["error"], "no such luck");
}

TEST(Workers, AnswersOnceWhenOverdueAndTellsTheLateEnd) {
    Workers workers;
    std::promise<void> release;
    ASSERT_TRUE(workers.start(9, 0ms, [gate = release.get_future().share()] {
        gate.wait();
        return success({{"elapsed_us", 5}});
    }));
    ASSERT_TRUE(workers.next_deadline());
    const auto overdue = workers.take_overdue();
    ASSERT_EQ(overdue.size(), 1u);
    EXPECT_EQ(overdue[0]["id"], 9);
    EXPECT_EQ(overdue[0]["ok"], false);
    EXPECT_EQ(overdue[0]["timed_out"], true);
    EXPECT_TRUE(workers.take_overdue().empty());
    EXPECT_FALSE(workers.next_deadline());
    release.set_value();
    ASSERT_TRUE(wait_ready(workers));
    const auto late = workers.take_answers();
    ASSERT_EQ(late.size(), 1u);
    EXPECT_EQ(late[0]["event"], "late");
    EXPECT_EQ(late[0]["of"], 9);
    EXPECT_EQ(late[0]["elapsed_us"], 5);
    EXPECT_FALSE(late[0].contains("id"));
}

TEST(Workers, RefusesMoreThanABound) {
    Workers workers;
    std::promise<void> release;
    const auto gate = release.get_future().share();
    int started = 0;
    while (workers.start(started, std::nullopt, [gate] {
        gate.wait();
        return success();
    })) {
        ASSERT_LT(++started, 1000);
    }
    EXPECT_GT(started, 8);
    release.set_value();
    std::size_t answered = 0;
    while (answered < static_cast<std::size_t>(started)) {
        ASSERT_TRUE(wait_ready(workers));
        answered += workers.take_answers().size();
    }
}

}  // namespace
}  // namespace hp::agent
