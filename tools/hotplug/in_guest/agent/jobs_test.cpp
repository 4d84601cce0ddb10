// SPDX-License-Identifier: GPL-2.0
// Purpose: that programs run, are heard to their last word, and end in time.
// Thread: one.
#include "hotplug/in_guest/agent/jobs.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

namespace hp::agent {
namespace {

using nlohmann::json;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

class JobsTest : public ::testing::Test {
protected:
    static void SetUpTestSuite() { ::signal(SIGPIPE, SIG_IGN); }

    /// Drives the jobs until a message satisfies the predicate; null when none did in time.
    template <typename Predicate>
    json wait_for(Predicate wanted) {
        const auto deadline = Clock::now() + 20s;
        while (Clock::now() < deadline) {
            const auto found = std::find_if(messages_.begin(), messages_.end(), wanted);
            if (found != messages_.end()) {
                return *found;
            }
            PollSet polls;
            jobs_.watch(polls, hold_output_);
            polls.wait(20ms);
            jobs_.enforce_deadlines();
        }
        return nullptr;
    }
    json wait_exit() {
        return wait_for([](const json& message) { return message.value("event", "") == "exit"; });
    }
    json wait_answer() {
        return wait_for([](const json& message) { return message.contains("id"); });
    }
    std::uint64_t spawn(const std::string& script) {
        const auto started = jobs_.spawn({{"sh", "-c", script}, {}}, "test");
        EXPECT_TRUE(started) << started.error().message;
        return started ? (*started)["job"].get<std::uint64_t>() : 0;
    }
    std::vector<std::string> lines() const {
        std::vector<std::string> all;
        for (const json& message : messages_) {
            if (message.value("event", "") == "output") {
                all.push_back(message["line"]);
            }
        }
        return all;
    }

    bool hold_output_ = false;
    std::vector<json> messages_;
    Jobs jobs_{[this](const json& message) { messages_.push_back(message); }};
};

TEST_F(JobsTest, StreamsLinesAndTellsTheEnd) {
    const auto job = spawn("echo one; echo two >&2; printf three; exit 5");
    const json exit = wait_exit();
    ASSERT_FALSE(exit.is_null());
    EXPECT_EQ(exit["job"], job);
    EXPECT_EQ(exit["status"], 5);
    EXPECT_GT(exit["time_us"], 0);
    auto all = lines();
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, (std::vector<std::string>{"one", "three", "two"}));
    EXPECT_EQ(messages_.back()["event"], "exit");
}

TEST_F(JobsTest, ASignalEndsAJob) {
    const auto job = spawn("echo up; exec sleep 1000");
    ASSERT_FALSE(
        wait_for([](const json& message) { return message.value("line", "") == "up"; }).is_null());
    ASSERT_TRUE(jobs_.signal(job, SIGTERM));
    EXPECT_EQ(wait_exit()["status"], -SIGTERM);
    EXPECT_FALSE(jobs_.signal(job, SIGTERM));
}

TEST_F(JobsTest, InputReachesTheJob) {
    const auto job = spawn("read x; echo got $x");
    ASSERT_TRUE(jobs_.write_input(job, "this"));
    ASSERT_FALSE(wait_exit().is_null());
    EXPECT_EQ(lines(), (std::vector<std::string>{"got this"}));
}

TEST_F(JobsTest, InputToAJobThatClosedItIsAnError) {
    const auto job = spawn("exec <&-; echo closed; exec sleep 1000");
    ASSERT_FALSE(wait_for([](const json& message) {
                     return message.value("line", "") == "closed";
                 }).is_null());
    EXPECT_FALSE(jobs_.write_input(job, "x"));
}

TEST_F(JobsTest, AFloodIsHeldBackByItsPipe) {
    hold_output_ = true;
    spawn("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done");
    for (int round = 0; round < 20; ++round) {
        PollSet polls;
        jobs_.watch(polls, hold_output_);
        polls.wait(10ms);
    }
    EXPECT_TRUE(messages_.empty());
    hold_output_ = false;
    ASSERT_FALSE(wait_exit().is_null());
    EXPECT_EQ(lines().size(), 20000u);
    EXPECT_EQ(lines().back(), "line 19999");
}

TEST_F(JobsTest, AGrandchildThatKeepsThePipeDoesNotHoldTheEnd) {
    spawn("sleep 1000 & echo $!");
    ASSERT_FALSE(wait_exit().is_null());
    ASSERT_EQ(lines().size(), 1u);
    ::kill(std::stoi(lines()[0]), SIGKILL);
}

TEST_F(JobsTest, RunAnswersWithBothStreams) {
    ASSERT_TRUE(jobs_.run(
        8, {{"sh", "-c", "echo $WHAT; echo err >&2; cat; exit 3"}, {{"WHAT", "out"}}}, 20s));
    const json answer = wait_answer();
    ASSERT_FALSE(answer.is_null());
    EXPECT_EQ(answer["id"], 8);
    EXPECT_EQ(answer["ok"], true);
    EXPECT_EQ(answer["status"], 3);
    EXPECT_EQ(answer["timed_out"], false);
    EXPECT_EQ(answer["stdout"], "out\n");
    EXPECT_EQ(answer["stderr"], "err\n");
    EXPECT_FALSE(jobs_.next_deadline());
}

TEST_F(JobsTest, RunCutsWhatIsTooMuchAndSaysSo) {
    ASSERT_TRUE(jobs_.run(8, {{"sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' x"}, {}}, 20s));
    const json cut = wait_answer();
    EXPECT_EQ(cut["stdout"].get_ref<const std::string&>().size(), 256u << 10);
    EXPECT_EQ(cut["cut"], true);

    messages_.clear();
    ASSERT_TRUE(jobs_.run(9, {{"sh", "-c", "head -c 262144 /dev/zero | tr '\\0' x"}, {}}, 20s));
    const json whole = wait_answer();
    EXPECT_EQ(whole["stdout"].get_ref<const std::string&>().size(), 256u << 10);
    EXPECT_EQ(whole["cut"], false) << "nothing was left out";
}

TEST_F(JobsTest, AnOverdueRunIsKilledWithItsChildren) {
    ASSERT_TRUE(jobs_.run(8, {{"sh", "-c", "echo before; sleep 1000; echo after"}, {}}, 3s));
    const json answer = wait_answer();
    ASSERT_FALSE(answer.is_null());
    EXPECT_EQ(answer["timed_out"], true);
    EXPECT_EQ(answer["status"], -SIGKILL);
    EXPECT_EQ(answer["stdout"], "before\n");
}

TEST_F(JobsTest, AProgramThatIsNotThereIsAnError) {
    const auto started = jobs_.spawn({{"/no/such/program"}, {}}, "x");
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().message, "cannot start /no/such/program: No such file or directory");
    EXPECT_FALSE(jobs_.run(1, {{"/no/such/program"}, {}}, 1s));
    EXPECT_FALSE(jobs_.signal(77, SIGTERM));
    EXPECT_FALSE(jobs_.write_input(77, "x"));
}

}  // namespace
}  // namespace hp::agent
