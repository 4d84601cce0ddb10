// SPDX-License-Identifier: GPL-2.0
// Purpose: the programs that the agent runs for the harness, as its events have told of them: what
// each has printed, and how it ended. Thread: all members from any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hotplug/base/deadline.h"
#include "hotplug/values/job_id.h"
#include "lib/result.h"

namespace hotplug {

struct OutputLine {
    Deadline::Clock::time_point received;
    std::string text;
};

struct JobExit {
    int status = 0;        // exit code, or -signal
    uint64_t time_us = 0;  // guest's clock
};

/// A program running in the guest, as seen so far.
struct JobView {
    int pid = 0;
    std::string name;
    std::vector<OutputLine> lines;
    std::optional<JobExit> exit;
};

class GuestJobs {
public:
    using Wanted = std::function<bool(const std::string&)>;

    /// `connected`: whether there may be more news. It is asked with a lock held.
    explicit GuestJobs(std::function<bool()> connected) : connected_(std::move(connected)) {}

    // A job's first output, and its end, can be told before it is named.
    void name(JobId job, int pid, const std::string& name);
    void take_output(JobId job, std::string line);
    void take_exit(JobId job, JobExit exit);

    /// Empty for a job that nobody has told of.
    JobView view(JobId job) const;
    hp::Result<JobExit> wait_exit(JobId job, Deadline deadline) const;
    /// The first output line from index `from` on that satisfies `wanted`; fails at the job's end.
    /// `awaited` names it in errors.
    hp::Result<OutputLine> wait_output(JobId job, size_t from, const Wanted& wanted,
                                       std::string_view awaited, Deadline deadline) const;

private:
    const std::function<bool()> connected_;
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    // Mutable: to wait for a job makes a place for what will be told of it.
    mutable std::map<JobId, JobView> jobs_;
};

}  // namespace hotplug
