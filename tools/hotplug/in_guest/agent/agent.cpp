// SPDX-License-Identifier: GPL-2.0
// Purpose: the guest agent: serves Documentation/harness/protocols.md over a virtio-serial port.
// Thread: one loop does all but what may block in the kernel, which Workers do.
#include "hotplug/in_guest/agent/agent.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <system_error>
#include <utility>

#include "hotplug/in_guest/agent/clock.h"
#include "hotplug/in_guest/agent/files.h"
#include "hotplug/in_guest/agent/system_state.h"
#include "lib/json_line.h"

namespace hp::agent {

namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr int protocol_version = 1;
constexpr std::uint64_t default_run_timeout_ms = 30000;
constexpr std::uint64_t default_read_limit = 64u << 10;
/// Escaped as JSON, text grows at most six-fold: it stays below the limit of a line.
constexpr std::uint64_t max_read_limit = 160u << 10;
/// A port without a peer is always ready with POLLHUP, so a peer is looked for at this pace.
constexpr milliseconds reconnect_pace{100};

std::string kernel_release() {
    utsname names{};
    ::uname(&names);
    return names.release;
}

Result<Jobs::Program> program_of(const Request& request) {
    auto argv = request.texts("argv");
    if (!argv) {
        return tl::unexpected(argv.error());
    }
    auto env = request.table("env");
    if (!env) {
        return tl::unexpected(env.error());
    }
    return Jobs::Program{std::move(*argv), std::move(*env)};
}

}  // namespace

Agent::Agent(Config config)
    : config_(std::move(config)),
      kmsg_(std::move(config_.kmsg)),
      in_(json_line_limit, LineBuffer::Overlong::cut),
      jobs_([this](const json& message) { push(message); }) {}

json Agent::hello() const {
    return {
        {"version", protocol_version}, {"kernel", kernel_release()}, {"uptime_us", uptime_us()}};
}

void Agent::step(milliseconds at_most) {
    check_connection();
    PollSet polls;
    if (connected_) {
        const bool may_read = !out_.full();
        const short events =
            static_cast<short>((may_read ? POLLIN : 0) | (out_.empty() ? 0 : POLLOUT));
        polls.add(config_.port.get(), events, [this](short revents) {
            if ((revents & POLLIN) != 0) {
                read_requests();
            }
        });
    }
    if (!out_.full()) {
        polls.add(kmsg_.fd(), POLLIN, [this](short) { drain_kernel_log(); });
    }
    jobs_.watch(polls, out_.full());
    polls.add(workers_.ready_fd(), POLLIN, [this](short) { push_all(workers_.take_answers()); });

    polls.wait(time_to_next_deadline(connected_ ? at_most : std::min(at_most, reconnect_pace)));
    jobs_.enforce_deadlines();
    push_all(workers_.take_overdue());
    if (connected_) {
        // A write that fails means that the peer has gone: check_connection sees it, the messages
        // stay.
        connected_ = out_.flush(config_.port.get()).has_value();
    }
}

void Agent::check_connection() {
    pollfd port{config_.port.get(), 0, 0};
    const bool connected = ::poll(&port, 1, 0) >= 0 && (port.revents & (POLLHUP | POLLERR)) == 0;
    if (connected && !connected_) {
        in_.clear();
        out_.restart_line();
        json event = hello();
        event["event"] = "hello";
        out_.push(event);
    }
    connected_ = connected;
}

milliseconds Agent::time_to_next_deadline(milliseconds at_most) const {
    const auto now = Clock::now();
    for (const auto& deadline : {jobs_.next_deadline(), workers_.next_deadline()}) {
        if (deadline) {
            const auto left = std::chrono::ceil<milliseconds>(*deadline - now);
            at_most = std::clamp(left, milliseconds(0), at_most);
        }
    }
    return at_most;
}

void Agent::push(const json& message) {
    drain_kernel_log();
    out_.push(message);
}

void Agent::push_all(const std::vector<json>& messages) {
    for (const json& message : messages) {
        push(message);
    }
}

void Agent::drain_kernel_log() {
    while (!out_.full()) {
        const auto events = kmsg_.read();
        if (events.empty()) {
            return;
        }
        for (const json& event : events) {
            out_.push(event);
        }
    }
}

void Agent::read_requests() {
    std::array<char, 65536> bytes;
    const ssize_t n = ::read(config_.port.get(), bytes.data(), bytes.size());
    if (n <= 0) {
        return;  // EAGAIN, or a peer that has gone, which check_connection() sees
    }
    in_.append({bytes.data(), static_cast<std::size_t>(n)});
    while (const auto line = in_.next()) {
        if (!line->empty()) {
            serve_line(*line);
        }
    }
}

void Agent::serve_line(const std::string& line) {
    const auto request = Request::parse(line);
    if (!request) {
        push(with_id(json(), failure(request.error().message)));
        return;
    }
    const auto served = serve(*request);
    if (!served) {
        answer(*request, failure(served.error().message));
    }
}

void Agent::answer(const Request& request, json members) {
    push(with_id(request.id(), std::move(members)));
}

Result<void> Agent::serve(const Request& request) {
    using Server = std::function<Result<void>(Agent&, const Request&)>;
    static const std::map<std::string, Server> servers = {
        {"run", &Agent::serve_run},
        {"spawn", &Agent::serve_spawn},
        {"signal", &Agent::serve_signal},
        {"job_input", &Agent::serve_job_input},
        {"read", &Agent::serve_read},
        {"write", &Agent::serve_write},
        {"list", &Agent::serve_list},
        {"hello",
         [](Agent& agent, const Request& hello) -> Result<void> {
             agent.answer(hello, success(agent.hello()));
             return {};
         }},
        {"state",
         [](Agent& agent, const Request& state) {
             return agent.start_work(
                 state, [root = agent.config_.root] { return success(read_state(root)); });
         }},
        {"kmemleak",
         [](Agent& agent, const Request& scan) {
             return agent.start_work(scan, [root = agent.config_.root] { return kmemleak(root); });
         }},
        {"poweroff",
         [](Agent& agent, const Request& poweroff) {
             return agent.start_work(poweroff, [power_off = agent.config_.power_off] {
                 power_off();
                 return failure("the kernel refused to power off");
             });
         }},
    };
    const auto server = servers.find(request.what());
    if (server == servers.end()) {
        return fail("unknown request '" + request.what() + "'");
    }
    return server->second(*this, request);
}

Result<void> Agent::serve_run(const Request& request) {
    const auto program = program_of(request);
    const auto timeout = request.number_or("timeout_ms", default_run_timeout_ms);
    if (!program || !timeout) {
        return tl::unexpected(program ? timeout.error() : program.error());
    }
    return jobs_.run(request.id(), *program, milliseconds(*timeout));
}

Result<void> Agent::serve_spawn(const Request& request) {
    const auto program = program_of(request);
    const auto name = request.text("name");
    if (!program || !name) {
        return tl::unexpected(program ? name.error() : program.error());
    }
    auto started = jobs_.spawn(*program, *name);
    if (!started) {
        return tl::unexpected(started.error());
    }
    answer(request, success(std::move(*started)));
    return {};
}

Result<void> Agent::serve_signal(const Request& request) {
    const auto job = request.number("job");
    const auto signal = request.number("signal");
    if (!job || !signal) {
        return tl::unexpected(job ? signal.error() : job.error());
    }
    return jobs_.signal(*job, static_cast<int>(*signal)).map([&] { answer(request, success()); });
}

Result<void> Agent::serve_job_input(const Request& request) {
    const auto job = request.number("job");
    const auto line = request.text("line");
    if (!job || !line) {
        return tl::unexpected(job ? line.error() : job.error());
    }
    return jobs_.write_input(*job, *line).map([&] { answer(request, success()); });
}

Result<void> Agent::serve_read(const Request& request) {
    const auto path = request.text("path");
    const auto limit = request.number_or("limit", default_read_limit);
    if (!path || !limit) {
        return tl::unexpected(path ? limit.error() : path.error());
    }
    return start_work(request, [path = *path, limit = std::min(*limit, max_read_limit)] {
        return read_file(path, limit);
    });
}

Result<void> Agent::serve_write(const Request& request) {
    const auto path = request.text("path");
    const auto data = request.text("data");
    if (!path || !data) {
        return tl::unexpected(path ? data.error() : path.error());
    }
    return start_work(request, [path = *path, data = *data] { return write_file(path, data); });
}

Result<void> Agent::serve_list(const Request& request) {
    const auto path = request.text("path");
    if (!path) {
        return tl::unexpected(path.error());
    }
    return start_work(request, [path = *path] { return list_directory(path); });
}

Result<void> Agent::start_work(const Request& request, Workers::Work work) {
    const auto timeout_ms = request.number_or("timeout_ms", 0);
    if (!timeout_ms) {
        return tl::unexpected(timeout_ms.error());
    }
    const auto timeout = *timeout_ms == 0 ? std::nullopt : std::optional(milliseconds(*timeout_ms));
    return workers_.start(request.id(), timeout, std::move(work));
}

}  // namespace hp::agent
