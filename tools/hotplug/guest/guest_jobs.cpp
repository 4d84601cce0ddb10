// SPDX-License-Identifier: GPL-2.0
// Purpose: see guest_jobs.h.
// Thread: see guest_jobs.h.
#include "hotplug/guest/guest_jobs.h"

#include <fmt/format.h>

#include <utility>

namespace hotplug {

void GuestJobs::name(JobId job, int pid, const std::string& name) {
    std::lock_guard lock(mutex_);
    jobs_[job].pid = pid;
    jobs_[job].name = name;
}

void GuestJobs::take_output(JobId job, std::string line) {
    std::lock_guard lock(mutex_);
    jobs_[job].lines.push_back({Deadline::Clock::now(), std::move(line)});
    changed_.notify_all();
}

void GuestJobs::take_exit(JobId job, JobExit exit) {
    std::lock_guard lock(mutex_);
    jobs_[job].exit = exit;
    changed_.notify_all();
}

JobView GuestJobs::view(JobId job) const {
    std::lock_guard lock(mutex_);
    const auto found = jobs_.find(job);
    return found == jobs_.end() ? JobView{} : found->second;
}

hp::Result<JobExit> GuestJobs::wait_exit(JobId job, Deadline deadline) const {
    std::unique_lock lock(mutex_);
    const JobView& view = jobs_[job];
    if (!deadline.wait(changed_, lock, [&] { return view.exit || !connected_(); })) {
        return hp::fail(deadline.missed(fmt::format("the end of '{}' in the guest", view.name)));
    }
    if (!view.exit) {
        return hp::fail(fmt::format("the machine ended before '{}' did", view.name));
    }
    return *view.exit;
}

hp::Result<OutputLine> GuestJobs::wait_output(JobId job, size_t from, const Wanted& wanted,
                                              std::string_view awaited, Deadline deadline) const {
    std::unique_lock lock(mutex_);
    const JobView& view = jobs_[job];
    std::optional<OutputLine> found;
    const auto came = [&] {
        for (; from < view.lines.size() && !found; ++from) {
            if (wanted(view.lines[from].text)) {
                found = view.lines[from];
            }
        }
        return found || view.exit || !connected_();
    };
    if (!deadline.wait(changed_, lock, came)) {
        return hp::fail(deadline.missed(fmt::format("{} ('{}' in the guest)", awaited, view.name)));
    }
    if (!found) {
        const std::string last = view.lines.empty() ? "it printed nothing" : view.lines.back().text;
        return hp::fail(
            fmt::format("'{}' in the guest ended before {}: {}", view.name, awaited, last));
    }
    return *found;
}

}  // namespace hotplug
