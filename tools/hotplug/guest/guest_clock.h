// SPDX-License-Identifier: GPL-2.0
// Purpose: the match of the guest's CLOCK_MONOTONIC with the host's. It holds until the guest
// sleeps. Thread: all members from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>

#include "hotplug/base/deadline.h"
#include "lib/result.h"

namespace hotplug {

class GuestClock {
public:
    /// Asks the guest for its time, in microseconds.
    using Ask = std::function<hp::Result<uint64_t>()>;

    /// Asks a few times: the quickest exchange has the smallest error.
    hp::Result<void> match(const Ask& ask);

    /// What the guest's clock showed, or will show, at a moment of the host; 0 before its boot.
    uint64_t guest_us(Deadline::Clock::time_point when) const;

private:
    mutable std::mutex mutex_;
    Deadline::Clock::time_point zero_{};  // the host's time at which the guest's clock was 0
};

}  // namespace hotplug
