// SPDX-License-Identifier: GPL-2.0
// Purpose: the agent's clock: CLOCK_MONOTONIC in microseconds, which is what printk stamps.
// Thread: any.
#pragma once

#include <chrono>
#include <cstdint>

namespace hp::agent {

using Clock = std::chrono::steady_clock;

inline std::uint64_t to_us(Clock::duration duration) {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(duration).count());
}

inline std::uint64_t uptime_us() {
    return to_us(Clock::now().time_since_epoch());
}

}  // namespace hp::agent
