// SPDX-License-Identifier: GPL-2.0
// Purpose: see agent_client.h.
// Thread: see agent_client.h.
#include "hotplug/guest/agent_client.h"

#include <fmt/format.h>

namespace hotplug {

namespace {

using nlohmann::json;

// The agent answers at once unless the guest starves it: two TCG CPUs in a driver's busy loop do
// that for seconds.
constexpr std::chrono::seconds answer_deadline{30};
// On top of the time a request itself may take in the guest.
constexpr std::chrono::seconds answer_margin{15};

AgentHello parse_hello(const json& message) {
    return {message.at("version").get<int>(), message.at("kernel").get<std::string>(),
            message.at("uptime_us").get<uint64_t>()};
}

// An answer's members are taken out under this: a wrong type is an agent of another version.
template <typename Parse>
auto parsed(std::string_view what, Parse parse) -> hp::Result<decltype(parse())> {
    try {
        return parse();
    } catch (const json::exception& error) {
        return hp::fail(fmt::format("the agent's answer to {} is not as the protocol says: {}",
                                    what, error.what()));
    }
}

template <typename T>
hp::Result<T> member(const hp::Result<json>& answer, std::string_view what, const char* name) {
    if (!answer) {
        return tl::unexpected(answer.error());
    }
    return parsed(what, [&] { return answer->at(name).get<T>(); });
}

hp::Result<void> no_members(const hp::Result<json>& answer) {
    if (!answer) {
        return tl::unexpected(answer.error());
    }
    return {};
}

hp::Result<WriteResult> parse_write(const hp::Result<json>& answer) {
    if (!answer) {
        return tl::unexpected(answer.error());
    }
    return parsed("write", [&] {
        WriteResult result;
        result.elapsed_us = answer->value("elapsed_us", uint64_t{0});
        result.error = answer->value("errno", 0);
        if (result.error != 0) {
            result.error_text = answer->value("error", fmt::format("errno {}", result.error));
        }
        return result;
    });
}

// A refusal by the kernel carries `errno`; anything else that is not `ok` is a failure.
hp::Result<WriteResult> accept_write(const hp::Result<json>& answer) {
    if (answer && answer->contains("errno")) {
        return parse_write(answer);
    }
    return parse_write(accept_answer(answer, "the agent: write"));
}

std::chrono::milliseconds milliseconds(Deadline::Clock::duration time) {
    return std::chrono::ceil<std::chrono::milliseconds>(time);
}

}  // namespace

hp::Result<std::unique_ptr<AgentClient>> AgentClient::connect(const std::string& socket_path,
                                                              Deadline deadline) {
    std::unique_ptr<AgentClient> client(new AgentClient);
    auto conversation = JsonConversation::connect(
        socket_path, "the guest's agent", nullptr,
        [raw = client.get()](const json& event) { raw->on_event(event); }, deadline);
    if (!conversation) {
        return tl::unexpected(conversation.error());
    }
    client->conversation_ = std::move(*conversation);
    return client;
}

void AgentClient::on_event(const json& event) {
    const std::string name = event.at("event").get<std::string>();
    if (name == "kmsg") {
        log_.take({event.at("level").get<int>(), event.at("seq").get<uint64_t>(),
                   event.at("time_us").get<uint64_t>(), event.at("text").get<std::string>()});
    } else if (name == "kmsg_error") {
        log_.note_gap(event.at("error").get<std::string>());
    } else if (name == "output") {
        jobs_.take_output(event.at("job").get<JobId>(), event.at("line").get<std::string>());
    } else if (name == "exit") {
        jobs_.take_exit(event.at("job").get<JobId>(),
                        {event.at("status").get<int>(), event.at("time_us").get<uint64_t>()});
    } else if (name == "hello") {
        AgentHello hello = parse_hello(event);
        std::lock_guard lock(mutex_);
        hello_ = std::move(hello);
        changed_.notify_all();
    }
}

hp::Result<AgentHello> AgentClient::wait_hello(Deadline deadline) {
    std::optional<AgentHello> hello;
    {
        std::unique_lock lock(mutex_);
        if (!deadline.wait(changed_, lock, [&] { return hello_ || !connected(); })) {
            return hp::fail(deadline.missed("the agent in the guest to say hello"));
        }
        hello = hello_;
    }
    if (!hello) {
        return hp::fail("the machine ended before the agent in the guest said hello");
    }
    if (auto matched = synchronise_clock(deadline); !matched) {
        return tl::unexpected(matched.error());
    }
    return *hello;
}

hp::Result<bool> AgentClient::meet_again(std::chrono::milliseconds patience) {
    if (request("hello", json::object(), Deadline::after(patience))) {
        return true;
    }
    {
        std::lock_guard lock(mutex_);
        hello_.reset();
    }
    const Deadline deadline = Deadline::after(patience);
    if (auto connected = conversation_->reconnect(deadline); !connected) {
        return tl::unexpected(connected.error());
    }
    std::unique_lock lock(mutex_);
    deadline.wait(changed_, lock, [&] { return hello_.has_value(); });
    return hello_.has_value();
}

hp::Result<json> AgentClient::request(std::string_view verb, json members, Deadline deadline) {
    members["do"] = verb;
    return accept_answer(
        conversation_->ask(std::move(members), fmt::format("'{}'", verb), deadline),
        fmt::format("the agent: {}", verb));
}

hp::Result<RunResult> AgentClient::run(const std::vector<std::string>& argv,
                                       std::chrono::milliseconds timeout) {
    auto answer = request("run", {{"argv", argv}, {"timeout_ms", timeout.count()}},
                          Deadline::after(timeout + answer_margin));
    if (!answer) {
        return tl::unexpected(answer.error());
    }
    return parsed("run", [&] {
        return RunResult{
            answer->at("status").get<int>(),         answer->at("timed_out").get<bool>(),
            answer->at("stdout").get<std::string>(), answer->at("stderr").get<std::string>(),
            answer->at("cut").get<bool>(),           answer->at("elapsed_us").get<uint64_t>()};
    });
}

hp::Result<std::string> AgentClient::read(const std::string& path, Deadline deadline) {
    return member<std::string>(request("read", {{"path", path}}, deadline), "read", "data");
}

hp::Result<std::vector<std::string>> AgentClient::list(const std::string& path, Deadline deadline) {
    return member<std::vector<std::string>>(request("list", {{"path", path}}, deadline), "list",
                                            "names");
}

hp::Result<GuestState> AgentClient::state(Deadline deadline) {
    auto answer = request("state", json::object(), deadline);
    if (!answer) {
        return tl::unexpected(answer.error());
    }
    return parse_guest_state(*answer);
}

hp::Result<std::vector<std::string>> AgentClient::kmemleak(Deadline deadline) {
    return member<std::vector<std::string>>(request("kmemleak", json::object(), deadline),
                                            "kmemleak", "reports");
}

hp::Result<void> AgentClient::poweroff() {
    auto sent = conversation_->start({{"do", "poweroff"}}, "'poweroff'");
    if (!sent) {
        return tl::unexpected(sent.error());
    }
    return {};
}

hp::Result<AgentClient::PendingWrite> AgentClient::start_write(const std::string& path,
                                                               const std::string& data,
                                                               std::chrono::milliseconds timeout) {
    auto pending = conversation_->start(
        {{"do", "write"}, {"path", path}, {"data", data}, {"timeout_ms", timeout.count()}},
        fmt::format("a write to {}", path));
    if (!pending) {
        return tl::unexpected(pending.error());
    }
    return PendingWrite(std::move(*pending));
}

hp::Result<WriteResult> AgentClient::write(const std::string& path, const std::string& data,
                                           Deadline deadline) {
    auto pending = start_write(path, data, milliseconds(deadline.remaining()));
    if (!pending) {
        return tl::unexpected(pending.error());
    }
    return pending->wait(deadline);
}

std::optional<hp::Result<WriteResult>> AgentClient::PendingWrite::poll() {
    auto answer = pending_.poll();
    if (!answer) {
        return std::nullopt;
    }
    return accept_write(*answer);
}

hp::Result<WriteResult> AgentClient::PendingWrite::wait(Deadline deadline) {
    return accept_write(pending_.wait(deadline));
}

hp::Result<JobId> AgentClient::spawn(const std::string& name, const std::vector<std::string>& argv,
                                     const std::map<std::string, std::string>& environment) {
    auto answer = request("spawn", {{"argv", argv}, {"name", name}, {"env", environment}},
                          Deadline::after(answer_deadline));
    auto id = member<JobId>(answer, "spawn", "job");
    auto pid = member<int>(answer, "spawn", "pid");
    if (!id || !pid) {
        return id ? tl::unexpected(pid.error()) : id;
    }
    jobs_.name(*id, *pid, name);
    return *id;
}

hp::Result<void> AgentClient::signal(JobId job, int signal) {
    return no_members(
        request("signal", {{"job", job}, {"signal", signal}}, Deadline::after(answer_deadline)));
}

hp::Result<void> AgentClient::job_input(JobId job, const std::string& line) {
    return no_members(
        request("job_input", {{"job", job}, {"line", line}}, Deadline::after(answer_deadline)));
}

hp::Result<void> AgentClient::send_job_input(JobId job, const std::string& line) {
    return conversation_->start({{"do", "job_input"}, {"job", job}, {"line", line}}, "job_input")
        .map([](const JsonConversation::Pending&) {});
}

hp::Result<KernelLine> AgentClient::wait_kernel_line(size_t from, const GuestLog::Wanted& wanted,
                                                     std::string_view awaited,
                                                     Deadline deadline) const {
    return log_.wait(from, wanted, awaited, deadline).map([this](size_t index) {
        return log_.line(index);
    });
}

hp::Result<LogMark> AgentClient::mark_kernel_log(const std::string& text, Deadline deadline) {
    size_t from = kernel_log_size();
    auto before = Deadline::Clock::now();
    // The newline matters: without it printk() keeps the record open until the next one.
    auto written = write("/dev/kmsg", fmt::format("<6>{}\n", text), deadline);
    auto took = Deadline::Clock::now() - before;
    if (!written) {
        return tl::unexpected(written.error());
    }
    if (written->error != 0) {
        return hp::fail(fmt::format("the guest's /dev/kmsg: {}", written->error_text));
    }
    const auto index = log_.wait(
        from, [&](const KernelLine& line) { return line.text == text; }, text, deadline);
    if (!index) {
        return tl::unexpected(index.error());
    }
    return LogMark{before + took / 2, log_.line(*index).time_us, *index + 1};
}

hp::Result<void> AgentClient::synchronise_clock(Deadline deadline) {
    return clock_.match([&] {
        return member<uint64_t>(request("hello", json::object(), deadline), "hello", "uptime_us");
    });
}

}  // namespace hotplug
