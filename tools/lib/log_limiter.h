// SPDX-License-Identifier: GPL-2.0
// Purpose: how often a log says the same: some lines of an event at once, then a few a second, so
// that nobody outside can fill a disk. Thread: not synchronised.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace hp {

class LogLimiter {
public:
    using Clock = std::chrono::steady_clock;

    static constexpr int burst = 20;
    static constexpr std::chrono::milliseconds per_line{500};  // behind a burst
    /// Events that are told apart; later ones share what one may say.
    static constexpr size_t most_events = 256;

    /// Nothing: the line is not to be written. Else how many of that event were not since the last
    /// one that was.
    std::optional<uint64_t> admit(std::string_view event, Clock::time_point now);

private:
    struct Event {
        double lines = burst;  // that it may still write
        Clock::time_point at{};
        uint64_t suppressed = 0;
    };

    Event& find(std::string_view event, Clock::time_point now);

    std::map<std::string, Event, std::less<>> events_;
};

}  // namespace hp
