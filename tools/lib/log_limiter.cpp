// SPDX-License-Identifier: GPL-2.0
// Purpose: a token bucket for each event. Thread: not synchronised.
#include "lib/log_limiter.h"

#include <algorithm>
#include <utility>

namespace hp {

LogLimiter::Event& LogLimiter::find(std::string_view event, Clock::time_point now) {
    if (const auto known = events_.find(event); known != events_.end()) {
        return known->second;
    }
    const std::string_view name = events_.size() < most_events ? event : std::string_view();
    return events_.try_emplace(std::string(name), Event{.at = now}).first->second;
}

std::optional<uint64_t> LogLimiter::admit(std::string_view event, Clock::time_point now) {
    Event& found = find(event, now);
    const std::chrono::duration<double> passed = now - found.at;
    found.lines = std::min<double>(burst, found.lines + passed / per_line);
    found.at = now;
    if (found.lines < 1) {
        ++found.suppressed;
        return std::nullopt;
    }
    found.lines -= 1;
    return std::exchange(found.suppressed, 0);
}

}  // namespace hp
