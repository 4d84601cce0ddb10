// SPDX-License-Identifier: GPL-2.0
// Purpose: the agent as its peer sees it: requests, events, a peer that goes and comes again.
// Thread: the agent's is the test's.
#include "hotplug/in_guest/agent/agent.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <optional>

#include "lib/json_line.h"
#include "lib/temp_tree.h"

namespace hp::agent {
namespace {

using nlohmann::json;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

/// The whole agent; the test is the harness, the kernel log, and the pace of its loop.
class AgentTest : public ::testing::Test {
protected:
    void SetUp() override {
        ::signal(SIGPIPE, SIG_IGN);
        int port[2];
        int kmsg[2];
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, port), 0);
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, kmsg), 0);
        harness_.reset(port[0]);
        kernel_.reset(kmsg[0]);
        port_ = port[1];
        agent_.emplace(
            Agent::Config{Fd(port[1]), Fd(kmsg[1]), tree_.root(), [this] { powered_off_ = true; }});
    }

    void say(const std::string& line) {
        const std::string text = line + '\n';
        ASSERT_EQ(::write(harness_.get(), text.data(), text.size()),
                  static_cast<ssize_t>(text.size()));
    }

    template <typename Predicate>
    json wait_for(Predicate wanted) {
        const auto deadline = Clock::now() + 20s;
        while (Clock::now() < deadline) {
            const auto found = std::find_if(heard_.begin(), heard_.end(), wanted);
            if (found != heard_.end()) {
                return *found;
            }
            agent_->step(20ms);
            listen();
        }
        return nullptr;
    }
    json ask(json request) {
        request["id"] = ++id_;
        say(request.dump());
        return wait_for([this](const json& message) { return message.value("id", json()) == id_; });
    }
    json wait_event(const std::string& name) {
        return wait_for([&](const json& message) { return message.value("event", "") == name; });
    }

    TempTree tree_;
    Fd harness_;
    int port_ = -1;  // of the agent, which owns it
    Fd kernel_;
    std::atomic<bool> powered_off_ = false;
    std::optional<Agent> agent_;
    std::vector<json> heard_;
    int id_ = 0;

private:
    void listen() {
        std::array<char, 65536> bytes;
        for (ssize_t n; (n = ::read(harness_.get(), bytes.data(), bytes.size())) > 0;) {
            lines_.append({bytes.data(), static_cast<std::size_t>(n)});
        }
        while (const auto line = lines_.next()) {
            heard_.push_back(json::parse(*line));
        }
    }

    LineBuffer lines_{json_line_limit, LineBuffer::Overlong::refuse};
};

TEST_F(AgentTest, GreetsAndGreetsAgainOnRequest) {
    utsname names{};
    ASSERT_EQ(::uname(&names), 0);
    const json event = wait_event("hello");
    ASSERT_FALSE(event.is_null());
    EXPECT_EQ(event["version"], 1);
    EXPECT_EQ(event["kernel"], names.release);
    const json answer = ask({{"do", "hello"}});
    EXPECT_EQ(answer["ok"], true);
    EXPECT_GE(answer["uptime_us"], event["uptime_us"]);
}

TEST_F(AgentTest, SurvivesRubbish) {
    say("rubbish");
    say("[1, 2]");
    say(R"({"id": 5})");
    EXPECT_EQ(ask({{"do", "dance"}})["error"], "unknown request 'dance'");
    EXPECT_EQ(std::count_if(heard_.begin(), heard_.end(),
                            [](const json& message) {
                                return message.contains("id") && message["id"].is_null() &&
                                       !message["ok"];
                            }),
              3);
    EXPECT_EQ(ask({{"do", "run"}, {"argv", "ls"}})["ok"], false);
    EXPECT_EQ(ask({{"do", "read"}, {"path", 1}})["ok"], false);
    EXPECT_EQ(ask({{"do", "hello"}})["ok"], true);
}

TEST_F(AgentTest, StreamsTheKernelLog) {
    const std::string record = "3,0,77,-;BUG: something\n";
    ASSERT_GT(::write(kernel_.get(), record.data(), record.size()), 0);
    const json event = wait_event("kmsg");
    ASSERT_FALSE(event.is_null());
    EXPECT_EQ(event["text"], "BUG: something");
    EXPECT_EQ(event["level"], 3);
    EXPECT_EQ(event["time_us"], 77);
}

TEST_F(AgentTest, AnAnswerComesAfterTheKernelLogUpToIt) {
    ASSERT_FALSE(wait_event("hello").is_null());
    constexpr int records = 300;  // more than are read at once
    for (int i = 0; i < records; ++i) {
        const std::string record = "6," + std::to_string(i) + ",1,-;line\n";
        while (::write(kernel_.get(), record.data(), record.size()) < 0) {
            ASSERT_EQ(errno, EAGAIN);
            agent_->step(0ms);
        }
    }
    ASSERT_EQ(ask({{"do", "hello"}})["ok"], true);
    const auto answer = std::find_if(heard_.begin(), heard_.end(),
                                     [](const json& message) { return message.contains("id"); });
    EXPECT_EQ(
        std::count_if(heard_.begin(), answer,
                      [](const json& message) { return message.value("event", "") == "kmsg"; }),
        records);
}

TEST_F(AgentTest, ServesFiles) {
    tree_.file("attribute", "0");
    const std::string path = tree_.root() / "attribute";
    EXPECT_EQ(ask({{"do", "write"}, {"path", path}, {"data", "1"}, {"timeout_ms", 20000}})["ok"],
              true);
    EXPECT_EQ(ask({{"do", "read"}, {"path", path}})["data"], "1");
    EXPECT_EQ(ask({{"do", "read"}, {"path", path}, {"limit", 0}})["data"], "");
    EXPECT_EQ(ask({{"do", "list"}, {"path", tree_.root()}})["names"], json{"attribute"});
    EXPECT_EQ(ask({{"do", "kmemleak"}})["ok"], false);
}

TEST_F(AgentTest, AnswersStateFromItsRoot) {
    tree_.file("proc/sys/kernel/tainted", "512");
    const json state = ask({{"do", "state"}});
    EXPECT_EQ(state["ok"], true);
    EXPECT_EQ(state["taint"], 512);
}

TEST_F(AgentTest, ServesJobs) {
    const json started = ask({{"do", "spawn"}, {"argv", {"cat"}}, {"name", "echoer"}});
    ASSERT_EQ(started["ok"], true);
    EXPECT_GT(started["pid"], 0);
    const auto job = started["job"];
    EXPECT_EQ(ask({{"do", "job_input"}, {"job", job}, {"line", "ping"}})["ok"], true);
    const json output = wait_event("output");
    EXPECT_EQ(output["line"], "ping");
    EXPECT_EQ(output["job"], job);
    EXPECT_EQ(ask({{"do", "signal"}, {"job", job}, {"signal", SIGKILL}})["ok"], true);
    EXPECT_EQ(wait_event("exit")["status"], -SIGKILL);
}

TEST_F(AgentTest, RunsPrograms) {
    const json answer =
        ask({{"do", "run"}, {"argv", {"sh", "-c", "echo $A; exit 4"}}, {"env", {{"A", "b"}}}});
    EXPECT_EQ(answer["status"], 4);
    EXPECT_EQ(answer["stdout"], "b\n");
    EXPECT_EQ(ask({{"do", "run"}, {"argv", {"/no/such"}}})["ok"], false);
}

TEST_F(AgentTest, AJobThatFloodsDoesNotStarveRequests) {
    ASSERT_EQ(
        ask({{"do", "spawn"}, {"argv", {"yes", std::string(200, 'y')}}, {"name", "flood"}})["ok"],
        true);
    // Nobody listens: the queue fills and everything waits, without bound in time but not in
    // memory.
    for (int i = 0; i < 500; ++i) {
        agent_->step(1ms);
    }
    EXPECT_EQ(ask({{"do", "hello"}})["ok"], true);
}

TEST_F(AgentTest, PowersOff) {
    say(R"({"id": 1, "do": "poweroff"})");
    wait_for([this](const json&) { return powered_off_.load(); });
    EXPECT_TRUE(powered_off_);
}

TEST_F(AgentTest, WithoutAHarnessItKeepsWhatItHasToSayForTheNext) {
    ASSERT_FALSE(wait_event("hello").is_null());
    harness_.reset();
    const std::string record = "3,0,77,-;nobody hears\n";
    ASSERT_GT(::write(kernel_.get(), record.data(), record.size()), 0);
    for (int i = 0; i < 3; ++i) {
        agent_->step(1ms);
    }
    // QEMU's chardev takes the next client on the same port: here, the same descriptor.
    int port[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, port), 0);
    harness_.reset(port[0]);
    const Fd new_port(port[1]);
    ASSERT_EQ(::dup2(new_port.get(), port_), port_);
    heard_.clear();
    EXPECT_EQ(wait_event("kmsg")["text"], "nobody hears");
    EXPECT_FALSE(wait_event("hello").is_null());
}

}  // namespace
}  // namespace hp::agent
