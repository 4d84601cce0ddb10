// SPDX-License-Identifier: GPL-2.0
// Purpose: see guest_log.h.
// Thread: see guest_log.h.
#include "hotplug/guest/guest_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace hotplug {

uint64_t LogMark::log_time(Deadline::Clock::time_point when) const {
    const auto time = std::chrono::duration_cast<std::chrono::microseconds>(when - host).count() +
                      static_cast<int64_t>(log_us);
    return time < 0 ? 0 : static_cast<uint64_t>(time);
}

void GuestLog::take(KernelLine record) {
    std::lock_guard lock(mutex_);
    // Also where the agent has told of it (kmsg_lost): lines can be lost behind the agent, too.
    if (record.seq > next_seq_) {
        append_gap(record.time_us, fmt::format("{}", record.seq - next_seq_));
    }
    next_seq_ = record.seq + 1;
    lines_.push_back(std::move(record));
    changed_.notify_all();
}

void GuestLog::note_gap(const std::string& why) {
    std::lock_guard lock(mutex_);
    append_gap(lines_.empty() ? 0 : lines_.back().time_us, why);
    changed_.notify_all();
}

void GuestLog::append_gap(uint64_t time_us, const std::string& what) {
    lines_.push_back({.level = 3,
                      .seq = next_seq_,
                      .time_us = time_us,
                      .text = fmt::format("{} ({})", log_gap_line, what)});
}

size_t GuestLog::size() const {
    std::lock_guard lock(mutex_);
    return lines_.size();
}

std::vector<KernelLine> GuestLog::lines(size_t from) const {
    std::lock_guard lock(mutex_);
    const auto first = lines_.begin() + static_cast<ptrdiff_t>(std::min(from, lines_.size()));
    return {first, lines_.end()};
}

KernelLine GuestLog::line(size_t index) const {
    std::lock_guard lock(mutex_);
    return lines_.at(index);
}

hp::Result<size_t> GuestLog::wait(size_t from, const Wanted& wanted, std::string_view awaited,
                                  Deadline deadline) const {
    bool found = false;
    const auto came = [&] {
        while (from < lines_.size() && !found) {
            found = wanted(lines_[from]);
            from += found ? 0 : 1;
        }
        return found || !connected_();
    };
    std::unique_lock lock(mutex_);
    if (!deadline.wait(changed_, lock, came)) {
        return hp::fail(deadline.missed(fmt::format("the kernel's line: {}", awaited)));
    }
    if (!found) {
        return hp::fail(fmt::format("the machine ended before the kernel's line: {}", awaited));
    }
    return from;
}

}  // namespace hotplug
