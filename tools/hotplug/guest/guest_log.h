// SPDX-License-Identifier: GPL-2.0
// Purpose: the guest's kernel log as the agent has told it: kept from the first record of the boot
// on, with a line of its own where records are missing, and waited on. Thread: all members from
// any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "hotplug/base/deadline.h"
#include "hotplug/guest/kernel_line.h"
#include "lib/result.h"

namespace hotplug {

/// A moment known in the host's time and in that of the guest's kernel log.
struct LogMark {
    Deadline::Clock::time_point host;
    uint64_t log_us = 0;
    size_t next_line = 0;  // index of the first kernel line after the mark

    /// What printk's clock showed, or will show, at a moment of the host.
    uint64_t log_time(Deadline::Clock::time_point when) const;
};

class GuestLog {
public:
    using Wanted = std::function<bool(const KernelLine&)>;

    /// `connected`: whether records may still come. It is asked with a lock held.
    explicit GuestLog(std::function<bool()> connected) : connected_(std::move(connected)) {}

    /// Takes the next record in, after a line (log_gap_line) for those between it and the last.
    void take(KernelLine record);
    /// Records are missing, nobody knows how many.
    void note_gap(const std::string& why);

    /// An index never changes its meaning.
    size_t size() const;
    std::vector<KernelLine> lines(size_t from) const;
    /// At `index`, which is below size().
    KernelLine line(size_t index) const;

    /// The index of the first line from `from` on that satisfies `wanted`. `awaited` names it in
    /// errors. Fails at the deadline and when the machine has ended.
    hp::Result<size_t> wait(size_t from, const Wanted& wanted, std::string_view awaited,
                            Deadline deadline) const;

private:
    void append_gap(uint64_t time_us, const std::string& what);

    const std::function<bool()> connected_;
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::vector<KernelLine> lines_;
    uint64_t next_seq_ = 0;
};

}  // namespace hotplug
