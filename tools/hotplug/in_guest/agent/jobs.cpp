// SPDX-License-Identifier: GPL-2.0
// Purpose: programs the agent runs: jobs, whose output is streamed, and runs, whose output is
// answered at the end. Thread: not synchronised; the agent's loop owns it.
#include "hotplug/in_guest/agent/jobs.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "hotplug/in_guest/agent/request.h"

namespace hp::agent {

namespace {

using nlohmann::json;

constexpr std::size_t max_jobs = 64;
constexpr std::size_t line_limit = 64u << 10;
constexpr std::size_t capture_limit = 256u << 10;  // protocols.md
/// A killed program that is still there after this is stuck in the kernel; the run is answered
/// without it.
constexpr std::chrono::seconds kill_grace{2};

constexpr const char* stream_names[] = {"stdout", "stderr"};

}  // namespace

Jobs::~Jobs() {
    for (auto& [number, job] : jobs_) {
        ::kill(-job.child.pid, SIGKILL);
    }
}

Result<std::uint64_t> Jobs::start(const Program& program, std::string name) {
    if (jobs_.size() >= max_jobs) {
        return fail("there are " + std::to_string(max_jobs) + " jobs already: end some first");
    }
    auto child = start_child(program.argv, program.env);
    if (!child) {
        return tl::unexpected(child.error());
    }
    const std::uint64_t number = next_number_++;
    jobs_.emplace(number, Job{std::move(*child),
                              std::move(name),
                              {LineBuffer(line_limit, LineBuffer::Overlong::cut),
                               LineBuffer(line_limit, LineBuffer::Overlong::cut)},
                              {}});
    return number;
}

Result<json> Jobs::spawn(const Program& program, std::string name) {
    const auto number = start(program, std::move(name));
    if (!number) {
        return tl::unexpected(number.error());
    }
    return json{{"job", *number}, {"pid", jobs_.at(*number).child.pid}};
}

Result<void> Jobs::run(json id, const Program& program, std::chrono::milliseconds timeout) {
    const auto now = Clock::now();
    const auto number = start(program, program.argv[0]);
    if (!number) {
        return tl::unexpected(number.error());
    }
    Job& job = jobs_.at(*number);
    job.child.input.reset();
    job.run = Run{std::move(id), now, now + timeout, false, false, {}};
    return {};
}

Result<Jobs::Job*> Jobs::find(std::uint64_t number) {
    const auto it = jobs_.find(number);
    if (it == jobs_.end() || it->second.run) {
        return fail("there is no job " + std::to_string(number) + ": it has ended or never was");
    }
    return &it->second;
}

Result<void> Jobs::signal(std::uint64_t number, int signal) {
    const auto job = find(number);
    if (!job) {
        return tl::unexpected(job.error());
    }
    // Through the pidfd: the pid may already be another's.
    if (::syscall(SYS_pidfd_send_signal, (*job)->child.pidfd.get(), signal, nullptr, 0) != 0) {
        return fail("cannot signal job " + std::to_string(number) + ": " + std::strerror(errno));
    }
    return {};
}

Result<void> Jobs::write_input(std::uint64_t number, const std::string& line) {
    const auto job = find(number);
    if (!job) {
        return tl::unexpected(job.error());
    }
    const std::string text = line + '\n';
    const ssize_t n = ::write((*job)->child.input.get(), text.data(), text.size());
    if (n == static_cast<ssize_t>(text.size())) {
        return {};
    }
    return fail("job " + std::to_string(number) +
                " does not take its input: " + (n < 0 ? std::strerror(errno) : "its pipe is full"));
}

Fd& Jobs::stream_of(Job& job, Stream stream) {
    return stream == standard_output ? job.child.output : job.child.errors;
}

void Jobs::watch(PollSet& polls, bool hold_output) {
    for (auto& [number, job] : jobs_) {
        // Output first, so that a job's last words are usually taken before its end is seen.
        for (const Stream stream : {standard_output, standard_error}) {
            const Fd& fd = stream_of(job, stream);
            if (fd && (job.run || !hold_output)) {
                polls.add(fd.get(), POLLIN,
                          [this, number = number, stream](short) { read_stream(number, stream); });
            }
        }
        polls.add(job.child.pidfd.get(), POLLIN,
                  [this, number = number](short) { finish(number); });
    }
}

/// One read; false when there was nothing to take.
bool Jobs::read_stream(std::uint64_t number, Stream stream) {
    Job& job = jobs_.at(number);
    Fd& fd = stream_of(job, stream);
    if (!fd) {
        return false;
    }
    std::array<char, 65536> bytes;
    const ssize_t n = ::read(fd.get(), bytes.data(), bytes.size());
    if (n > 0) {
        take_output(number, job, stream, {bytes.data(), static_cast<std::size_t>(n)});
        return true;
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        fd.reset();
    }
    return false;
}

void Jobs::take_output(std::uint64_t number, Job& job, Stream stream, std::string_view bytes) {
    if (job.run) {
        std::string& captured = job.run->captured[stream];
        const std::size_t room = capture_limit - captured.size();
        job.run->cut |= bytes.size() > room;
        captured.append(bytes.substr(0, room));
        return;
    }
    job.lines[stream].append(bytes);
    while (const auto line = job.lines[stream].next()) {
        say_line(number, job, stream, *line);
    }
}

void Jobs::say_line(std::uint64_t number, const Job& job, Stream stream, const std::string& line) {
    sink_({{"event", "output"},
           {"job", number},
           {"name", job.name},
           {"stream", stream_names[stream]},
           {"line", line}});
}

void Jobs::finish(std::uint64_t number) {
    const std::uint64_t time_us = uptime_us();
    Job& job = jobs_.at(number);
    const auto status = reap(job.child);
    if (!status) {
        return;
    }
    for (const Stream stream : {standard_output, standard_error}) {
        // What the pipe holds (64 KiB) and no more: a grandchild may go on writing for ever.
        for (int reads = 0; reads < 2 && read_stream(number, stream); ++reads) {
        }
        const std::string rest = job.lines[stream].take_rest();
        if (!rest.empty()) {
            say_line(number, job, stream, rest);
        }
    }
    if (!job.run) {
        sink_({{"event", "exit"},
               {"job", number},
               {"name", job.name},
               {"status", *status},
               {"time_us", time_us}});
    } else if (!job.run->answered) {
        sink_(with_id(job.run->id,
                      success({{"status", *status},
                               {"timed_out", job.run->killed},
                               {"stdout", job.run->captured[standard_output]},
                               {"stderr", job.run->captured[standard_error]},
                               {"cut", job.run->cut},
                               {"elapsed_us", to_us(Clock::now() - job.run->started)}})));
    }
    jobs_.erase(number);
}

void Jobs::enforce_deadlines() {
    const auto now = Clock::now();
    for (auto& [number, job] : jobs_) {
        if (!job.run || job.run->answered || now < job.run->deadline) {
            continue;
        }
        Run& run = *job.run;
        if (!run.killed) {
            ::kill(-job.child.pid, SIGKILL);  // its whole session
            run.killed = true;
            run.deadline = now + kill_grace;
            continue;
        }
        run.answered = true;
        sink_(with_id(run.id, failure("'" + job.name + "' (pid " + std::to_string(job.child.pid) +
                                      ") is still there after its time-out and SIGKILL")));
    }
}

std::optional<Clock::time_point> Jobs::next_deadline() const {
    std::optional<Clock::time_point> next;
    for (const auto& [number, job] : jobs_) {
        if (job.run && !job.run->answered && (!next || job.run->deadline < *next)) {
            next = job.run->deadline;
        }
    }
    return next;
}

}  // namespace hp::agent
