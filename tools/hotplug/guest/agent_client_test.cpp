// SPDX-License-Identifier: GPL-2.0
// Purpose: the agent client against a fake agent: hello and clocks, requests, refusals, jobs, the
// kernel log, the end. Thread: the fake's and the client's own.
#include "hotplug/guest/agent_client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <mutex>

#include "hotplug/base/fake_server_for_test.h"

namespace hotplug {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint64_t guest_uptime_us = 5'000'000;

Deadline soon() {
    return Deadline::after(seconds(10));
}

std::string line(const json& message) {
    return message.dump() + "\n";
}

json state() {
    const json holder = {{"pid", 31}, {"comm", "sh"}};
    const json orphan = {{"minor", "renderD129"}, {"holders", json::array({holder})}};
    return {{"taint", 512},
            {"uptime_us", 77},
            {"drm", {{{"minor", "renderD128"}, {"kind", "render"}, {"bdf", "0000:01:00.0"}}}},
            {"kfd_nodes",
             {{{"id", 0},
               {"gpu_id", 0},
               {"name", ""},
               {"simd_count", 0},
               {"render_minor", 0},
               {"location_id", 0},
               {"domain", 0},
               {"io_links", 1},
               {"io_link_targets", {1}}},
              {{"id", 1},
               {"gpu_id", 54321},
               {"name", "aqua"},
               {"simd_count", 1216},
               {"render_minor", 128},
               {"location_id", 256},
               {"domain", 0},
               {"io_links", 1},
               {"io_link_targets", {0}}}}},
            {"kfd_evictions", {{{"pid", 32}, {"gpu_id", 54321}, {"evicted_ms", 17}}}},
            {"kfd_generation", 2},
            {"pci",
             {{{"bdf", "0000:01:00.0"},
               {"vendor", 0x1002},
               {"device", 0x74a1},
               {"class", 0x120000},
               {"driver", "amdgpu"}}}},
            {"slab", {{"amdgpu_fence", 3}}},
            {"slab_total_kib", 40000},
            {"memory_available_kib", 1000000},
            {"processes_d_state", {{{"pid", 9}, {"comm", "x"}, {"wchan", "io"}, {"stack", "f\n"}}}},
            {"drm_minor_max", 128},
            {"drm_orphans", json::array({orphan})},
            {"kfd_users", {{{"pid", 32}, {"comm", "kfd_monitor"}}}}};
}

/// Answers by `do`; `writes` are held back until release().
class FakeAgent {
public:
    /// As one in a guest that is suspended: deaf, also after it woke up, until the host connects
    /// anew. Then it says hello.
    void sleep() { asleep_ = deaf_ = true; }
    void wake() { asleep_ = false; }
    std::string greeting() {
        if (asleep_ || !deaf_) {
            return "";
        }
        deaf_ = false;
        return line({{"event", "hello"},
                     {"version", 1},
                     {"kernel", "7.3.4"},
                     {"uptime_us", guest_uptime_us}});
    }
    std::string answer(const std::string& text) {
        json request = json::parse(text);
        std::string verb = request["do"];
        if (verb == "job_input") {
            std::lock_guard lock(mutex_);
            last_input_ = request["line"];
        }
        if (deaf_) {
            return "";
        }
        json answer{{"id", request["id"]}, {"ok", true}};
        if (verb == "hello") {
            answer.update({{"version", 1}, {"kernel", "7.3.4"}, {"uptime_us", guest_uptime_us}});
        } else if (verb == "state") {
            answer.update(state());
        } else if (verb == "list") {
            answer["names"] = {"0000:00:00.0", "0000:01:00.0"};
        } else if (verb == "read") {
            answer = {{"id", request["id"]}, {"ok", false}, {"error", "cannot open: ENOENT"}};
        } else if (verb == "run") {
            answer.update({{"status", 3},
                           {"timed_out", false},
                           {"stdout", "o"},
                           {"stderr", "e"},
                           {"cut", true},
                           {"elapsed_us", 5}});
        } else if (verb == "spawn") {
            // The first output is quicker than the answer.
            answer.update({{"job", 7}, {"pid", 99}});
            return line({{"event", "output"}, {"job", 7}, {"line", "ready"}}) + line(answer);
        } else if (verb == "write" && request["path"] == "/refused") {
            answer = {{"id", request["id"]},
                      {"ok", false},
                      {"errno", 17},
                      {"error", "File exists"},
                      {"elapsed_us", 12}};
        } else if (verb == "write" && request["path"] == "/slow") {
            answer["elapsed_us"] = 60'000'000;
            held_ = line(answer);
            return "";
        } else if (verb == "write" && request["path"] == "/dev/kmsg") {
            std::string text = request["data"].get<std::string>();
            text = text.substr(std::strlen("<6>"), text.find('\n') - std::strlen("<6>"));
            return line({{"event", "kmsg"},
                         {"level", 6},
                         {"seq", next_seq()},
                         {"time_us", 2'000'000},
                         {"text", text}}) +
                   line(answer);
        } else if (verb == "write") {
            answer["elapsed_us"] = 1000;
        } else if (verb == "kmemleak") {
            answer["reports"] = {"unreferenced object"};
        } else if (verb != "signal") {
            answer = {{"id", request["id"]}, {"ok", false}, {"error", "no such request"}};
        }
        return line(answer);
    }
    const std::string& held() const { return held_; }
    std::string last_input() const {
        std::lock_guard lock(mutex_);
        return last_input_;
    }
    uint64_t next_seq() { return seq_++; }

private:
    std::string held_;
    mutable std::mutex mutex_;
    std::string last_input_;
    std::atomic<uint64_t> seq_ = 0;  // of the kernel log
    std::atomic<bool> asleep_ = false;
    std::atomic<bool> deaf_ = false;
};

class AgentClientTest : public testing::Test {
protected:
    void SetUp() override {
        auto client = AgentClient::connect(server_.path(), soon());
        ASSERT_TRUE(client) << client.error().message;
        client_ = std::move(*client);
    }
    void say_hello() {
        server_.say(
            line({{"event", "hello"}, {"version", 1}, {"kernel", "7.3.4"}, {"uptime_us", 1000}}));
    }
    void log_line(uint64_t time_us, const std::string& text) {
        server_.say(line({{"event", "kmsg"},
                          {"level", 6},
                          {"seq", agent_.next_seq()},
                          {"time_us", time_us},
                          {"text", text}}));
    }

    FakeAgent agent_;
    FakeServer server_{[this](const std::string& line) { return agent_.answer(line); },
                       [this] { return agent_.greeting(); }};
    std::unique_ptr<AgentClient> client_;
};

TEST_F(AgentClientTest, HelloMatchesTheClocks) {
    say_hello();
    auto hello = client_->wait_hello(soon());
    ASSERT_TRUE(hello) << hello.error().message;
    EXPECT_EQ(hello->kernel, "7.3.4");
    auto now = Deadline::Clock::now();
    EXPECT_GE(client_->guest_us(now), guest_uptime_us);
    EXPECT_EQ(client_->guest_us(now + seconds(1)) - client_->guest_us(now), 1'000'000u);
}

TEST_F(AgentClientTest, NoHello) {
    auto hello = client_->wait_hello(Deadline::after(milliseconds(20)));
    ASSERT_FALSE(hello);
    EXPECT_NE(hello.error().message.find("say hello"), std::string::npos);
    server_.hang_up();
    EXPECT_FALSE(client_->wait_hello(soon()));
}

TEST_F(AgentClientTest, State) {
    auto state = client_->state(soon());
    ASSERT_TRUE(state) << state.error().message;
    EXPECT_EQ(state->taint, 512u);
    EXPECT_TRUE(state->gpu_ready("0000:01:00.0"));
    EXPECT_FALSE(state->gpu_ready("0000:02:00.0"));
    ASSERT_TRUE(state->find_kfd("0000:01:00.0"));
    EXPECT_EQ(state->find_kfd("0000:01:00.0")->gpu_id, 54321u);
    EXPECT_EQ(state->find_pci("0000:01:00.0")->device, 0x74a1u);
    EXPECT_EQ(state->slab.at("amdgpu_fence"), 3u);
    ASSERT_EQ(state->processes_d_state.size(), 1u);
    EXPECT_EQ(state->processes_d_state[0].pid, 9);
}

TEST_F(AgentClientTest, StateOfAnotherVersion) {
    json other = state();
    other.erase("kfd_nodes");
    auto parsed = parse_guest_state(other);
    ASSERT_FALSE(parsed);
    EXPECT_NE(parsed.error().message.find("kfd_nodes"), std::string::npos);
}

TEST_F(AgentClientTest, OrphanedNodesNameTheirHolders) {
    const auto parsed = parse_guest_state(state()).value();
    ASSERT_EQ(parsed.drm_orphans.size(), 1u);
    EXPECT_EQ(parsed.drm_orphans[0].minor, "renderD129");
    EXPECT_EQ(parsed.drm_orphans[0].holders, std::vector<std::string>{"sh (31)"});
    EXPECT_EQ(parsed.kfd_users, std::vector<std::string>{"kfd_monitor (32)"});
}

TEST_F(AgentClientTest, EvictionsAreThoseOfAProcessFromAGpu) {
    const auto parsed = parse_guest_state(state()).value();
    EXPECT_EQ(parsed.evicted_ms(32, 54321), 17u);
    EXPECT_EQ(parsed.evicted_ms(31, 54321), std::nullopt);
    EXPECT_EQ(parsed.evicted_ms(32, 54322), std::nullopt);
}

TEST_F(AgentClientTest, GpuIsNotReadyHalfway) {
    auto parsed = parse_guest_state(state()).value();
    auto without = parsed;
    without.kfd_nodes.pop_back();
    EXPECT_FALSE(without.gpu_ready("0000:01:00.0"));
    without = parsed;
    without.drm.clear();
    EXPECT_FALSE(without.gpu_ready("0000:01:00.0"));
    without = parsed;
    without.pci[0].driver.clear();
    EXPECT_FALSE(without.gpu_ready("0000:01:00.0"));
}

TEST_F(AgentClientTest, RefusedRequest) {
    auto data = client_->read("/none", soon());
    ASSERT_FALSE(data);
    EXPECT_EQ(data.error().message, "the agent: read: cannot open: ENOENT");
}

TEST_F(AgentClientTest, Run) {
    auto result = client_->run({"false"});
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->status, 3);
    EXPECT_EQ(result->out, "o");
    EXPECT_EQ(result->err, "e");
    EXPECT_TRUE(result->cut);
    EXPECT_EQ(client_->list("/sys", soon()).value().size(), 2u);
    EXPECT_EQ(client_->kmemleak(soon()).value().size(), 1u);
}

TEST_F(AgentClientTest, WriteRefusedByTheKernelIsAValue) {
    auto refused = client_->write("/refused", "1", soon());
    ASSERT_TRUE(refused) << refused.error().message;
    EXPECT_EQ(refused->error, 17);
    EXPECT_EQ(refused->error_text, "File exists");
    auto done = client_->write("/fine", "1", soon());
    ASSERT_TRUE(done);
    EXPECT_EQ(done->error, 0);
    EXPECT_EQ(done->elapsed_us, 1000u);
}

TEST_F(AgentClientTest, OtherRequestsGoOnDuringAWrite) {
    auto write = client_->start_write("/slow", "1", seconds(60));
    ASSERT_TRUE(write) << write.error().message;
    EXPECT_TRUE(client_->list("/sys", soon()));
    EXPECT_FALSE(write->poll());
    server_.say(agent_.held());
    auto result = write->wait(soon());
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->elapsed_us, 60'000'000u);
}

TEST_F(AgentClientTest, WriteThatDoesNotReturn) {
    auto result = client_->write("/slow", "1", Deadline::after(milliseconds(20)));
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().message.find("a write to /slow"), std::string::npos);
    server_.say(agent_.held());  // nobody waits for it any more
    EXPECT_TRUE(client_->list("/sys", soon()));
}

TEST_F(AgentClientTest, Jobs) {
    auto job = client_->spawn("submitter", {"drm_submitter"});
    ASSERT_TRUE(job) << job.error().message;
    auto any = [](const std::string&) { return true; };
    auto first = client_->wait_output(*job, 0, any, "a line", soon());
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_EQ(first->text, "ready");
    EXPECT_EQ(client_->job(*job).pid, 99);
    EXPECT_FALSE(client_->job(*job).exit);
    EXPECT_TRUE(client_->signal(*job, 15));

    server_.say(line({{"event", "exit"}, {"job", 7}, {"status", -15}, {"time_us", 4}}));
    auto exit = client_->wait_exit(*job, soon());
    ASSERT_TRUE(exit) << exit.error().message;
    EXPECT_EQ(exit->status, -15);
    auto none = client_->wait_output(*job, 1, any, "its second line", soon());
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().message, "'submitter' in the guest ended before its second line: ready");
}

TEST_F(AgentClientTest, KernelLog) {
    log_line(1, "one");
    log_line(2, "two");
    auto two = [](const KernelLine& line) { return line.text == "two"; };
    auto found = client_->wait_kernel_line(0, two, "two", soon());
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->time_us, 2u);
    EXPECT_EQ(client_->kernel_log_size(), 2u);
    EXPECT_EQ(client_->kernel_log(1).at(0).text, "two");
    EXPECT_TRUE(client_->kernel_log(9).empty());
    EXPECT_FALSE(client_->wait_kernel_line(2, two, "two", Deadline::after(milliseconds(20))));
}

TEST_F(AgentClientTest, MissingRecordsOfTheKernelLogAreTold) {
    const auto record = [&](uint64_t seq) {
        server_.say(
            line({{"event", "kmsg"}, {"level", 6}, {"seq", seq}, {"time_us", 5}, {"text", "x"}}));
    };
    record(0);
    record(1);
    record(4);
    server_.say(line({{"event", "kmsg_error"}, {"error", "Input/output error"}}));
    EXPECT_TRUE(client_->list("/sys", soon()));  // what came before the answer is taken in
    std::vector<std::string> texts;
    for (const KernelLine& line : client_->kernel_log()) {
        texts.push_back(line.text);
    }
    EXPECT_EQ(texts, (std::vector<std::string>{
                         "x", "x", "hpctl: records of the kernel log are missing (2)", "x",
                         "hpctl: records of the kernel log are missing (Input/output error)"}));
}

TEST_F(AgentClientTest, AnAgentThatAnswersIsNotHungUpOn) {
    auto met = client_->meet_again(seconds(10));
    ASSERT_TRUE(met) << met.error().message;
    EXPECT_TRUE(*met);
    EXPECT_EQ(server_.connections(), 1);
}

TEST_F(AgentClientTest, AnAgentThatSleptIsMetAgain) {
    auto write = client_->start_write("/slow", "1", seconds(60));
    ASSERT_TRUE(write) << write.error().message;
    ASSERT_TRUE(client_->list("/sys", soon())) << "so that the write has arrived";
    agent_.sleep();
    auto met = client_->meet_again(milliseconds(50));
    ASSERT_TRUE(met) << met.error().message;
    EXPECT_FALSE(*met) << "it sleeps";
    EXPECT_EQ(server_.connections(), 2);

    agent_.wake();
    met = client_->meet_again(seconds(10));
    ASSERT_TRUE(met) << met.error().message;
    EXPECT_TRUE(*met);
    server_.say(agent_.held());
    auto done = write->wait(soon());
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->elapsed_us, 60'000'000u) << "asked for before, answered after";
}

TEST_F(AgentClientTest, InputThatPutsTheGuestToSleepIsNotWaitedFor) {
    agent_.sleep();
    auto sent = client_->send_job_input(7, "go");
    ASSERT_TRUE(sent) << sent.error().message;
    auto met = client_->meet_again(milliseconds(50));
    ASSERT_TRUE(met) << met.error().message;
    EXPECT_FALSE(*met) << "it sleeps";
    agent_.wake();
    met = client_->meet_again(seconds(10));
    ASSERT_TRUE(met) << met.error().message;
    EXPECT_TRUE(*met);
    EXPECT_EQ(agent_.last_input(), "go");
}

TEST_F(AgentClientTest, AMachineThatEndedIsNotMetAgain) {
    agent_.sleep();
    server_.close();
    auto met = client_->meet_again(milliseconds(50));
    ASSERT_FALSE(met);
    EXPECT_NE(met.error().message.find("the guest's agent"), std::string::npos);
    EXPECT_FALSE(client_->connected());
}

TEST_F(AgentClientTest, MarkMatchesTheLogsClock) {
    log_line(1, "hpctl: before");
    auto mark = client_->mark_kernel_log("hpctl: surprise", soon());
    ASSERT_TRUE(mark) << mark.error().message;
    EXPECT_EQ(mark->log_us, 2'000'000u);
    EXPECT_EQ(mark->next_line, 2u);
    EXPECT_EQ(mark->log_time(mark->host + milliseconds(3)), 2'003'000u);
    EXPECT_EQ(mark->log_time(mark->host - seconds(9)), 0u);
}

TEST_F(AgentClientTest, EventOfAnotherVersionEndsTheConversation) {
    server_.say(line({{"event", "kmsg"}, {"level", "six"}}));
    auto never = client_->wait_kernel_line(
        0, [](const KernelLine&) { return true; }, "any", soon());
    EXPECT_FALSE(never);
    EXPECT_FALSE(client_->connected());
}

}  // namespace
}  // namespace hotplug
