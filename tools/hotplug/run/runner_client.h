// SPDX-License-Identifier: GPL-2.0
// Purpose: a program of ours that a row keeps running in the guest, and what its lines say
// (protocols.md, guest clients). Thread: one at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hotplug/judge/kernel_log.h"
#include "hotplug/run/testbed.h"
#include "hotplug/scenario/scenario.h"
#include "lib/result.h"

namespace hotplug {

/// Where a client works: what fills its command line and a shell step's variables.
struct GpuTarget {
    std::string bdf;
    std::string node;     ///< "/dev/dri/renderD128"; empty: it has none
    uint32_t gpu_id = 0;  ///< of KFD
};

/// One line of a client; a line that is no JSON has an empty state.
struct ClientLine {
    std::string state;  ///< "ready", "progress", "error", "end", ...
    uint64_t done = 0;
    uint64_t bad = 0;
    uint64_t time_us = 0;  ///< the guest's CLOCK_MONOTONIC
    int status = 0;        ///< of a fence
    std::string op;        ///< of an error: what failed
    std::string reason;    ///< of the end
    int error = 0;         ///< errno of an error or the end
    std::string text;      ///< the line itself
};

ClientLine parse_client_line(const std::string& text);

class GuestClient {
public:
    /// Starts it on `target` and waits until it is ready, a worker until it has done something.
    static hp::Result<GuestClient> start(Testbed& bed, const StartStep& step,
                                         const GpuTarget& target,
                                         const std::vector<std::string>& options);

    const std::string& name() const { return name_; }
    Role role() const { return role_; }
    /// See ClientDescription.
    bool worker() const { return worker_; }
    int pid() const { return bed_->job(job_).pid; }

    hp::Result<void> tell(const std::string& line);
    /// The same, and waits for the client's next line of the state `answer`.
    hp::Result<ClientLine> ask(const std::string& line, const std::string& answer,
                               Deadline deadline);
    /// Waits for its own end; the guest's time of it.
    hp::Result<JobExit> wait_end(Deadline deadline);
    hp::Result<void> signal(int signal);

    std::optional<JobExit> exit() const { return bed_->job(job_).exit; }
    std::string last_line() const;
    /// Its line of the state "end"; one without state: it has not said any.
    ClientLine last_word() const;
    /// How many results it called wrong.
    uint64_t bad() const;
    /// The signal that ended it, or that it says it got: SIGBUS, which clients catch to tell of it.
    std::optional<int> killed_by() const;
    /// The line of a fence that ended with an error.
    std::optional<ClientLine> failed_fence() const;
    /// Lines since `from` that tell of something bad; wrong results among them.
    std::vector<std::string> troubles(Deadline::Clock::time_point from) const;
    /// The longest time between two progress lines since `from`, up to now.
    std::chrono::milliseconds longest_stall(Deadline::Clock::time_point from) const;
    /// Waits for one more progress line.
    hp::Result<void> wait_progress(Deadline deadline);

private:
    GuestClient(Testbed& bed, const StartStep& step, bool worker, JobId job);

    Testbed* bed_;
    std::string name_;
    Role role_;
    bool worker_;
    JobId job_;
};

/// SIGTERM to all that run, then SIGKILL. One line for each program that ends of neither: it is
/// stuck in the kernel.
std::vector<std::string> stop_all(std::span<GuestClient> clients);

}  // namespace hotplug
