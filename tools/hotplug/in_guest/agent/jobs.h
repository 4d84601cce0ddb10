// SPDX-License-Identifier: GPL-2.0
// Purpose: programs the agent runs: jobs, whose output is streamed, and runs, whose output is
// answered at the end. Thread: not synchronised; the agent's loop owns it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "hotplug/in_guest/agent/child.h"
#include "hotplug/in_guest/agent/clock.h"
#include "hotplug/in_guest/agent/poll_set.h"
#include "lib/line_buffer.h"
#include "lib/result.h"

namespace hp::agent {

class Jobs {
public:
    /// Takes events and the answers of runs.
    using Sink = std::function<void(const nlohmann::json&)>;

    explicit Jobs(Sink sink) : sink_(std::move(sink)) {}
    /// Ends what still runs.
    ~Jobs();
    Jobs(const Jobs&) = delete;
    Jobs& operator=(const Jobs&) = delete;

    struct Program {
        std::vector<std::string> argv;
        std::map<std::string, std::string> env;
    };

    /// The answer's members: job number and pid.
    Result<nlohmann::json> spawn(const Program& program, std::string name);

    /// Answers `id` through the sink once the program has ended, or could not be ended after the
    /// timeout.
    Result<void> run(nlohmann::json id, const Program& program, std::chrono::milliseconds timeout);

    Result<void> signal(std::uint64_t job, int signal);
    Result<void> write_input(std::uint64_t job, const std::string& line);

    /// Descriptors to watch. While `hold_output`, jobs are not read: their pipes fill and they
    /// wait.
    void watch(PollSet& polls, bool hold_output);

    /// Ends overdue runs; to be called at next_deadline().
    void enforce_deadlines();
    std::optional<Clock::time_point> next_deadline() const;

private:
    enum Stream { standard_output, standard_error };

    struct Run {
        nlohmann::json id;
        Clock::time_point started;
        Clock::time_point deadline;
        bool killed = false;
        bool answered = false;
        std::array<std::string, 2> captured;
        bool cut = false;  ///< there was more than is kept
    };

    struct Job {
        Child child;
        std::string name;
        std::array<LineBuffer, 2> lines;
        std::optional<Run> run;
    };

    Result<std::uint64_t> start(const Program& program, std::string name);
    Fd& stream_of(Job& job, Stream stream);
    bool read_stream(std::uint64_t number, Stream stream);
    void take_output(std::uint64_t number, Job& job, Stream stream, std::string_view bytes);
    void say_line(std::uint64_t number, const Job& job, Stream stream, const std::string& line);
    void finish(std::uint64_t number);
    Result<Job*> find(std::uint64_t number);

    Sink sink_;
    std::map<std::uint64_t, Job> jobs_;
    std::uint64_t next_number_ = 1;
};

}  // namespace hp::agent
