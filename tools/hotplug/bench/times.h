// SPDX-License-Identifier: GPL-2.0
// Purpose: how long a bench waits for a guest before it gives up, and durations as JSON has them.
// These limits end what hangs. They judge nothing. Thread: any.
#pragma once

#include <chrono>

namespace hotplug {

/// Of the agent, or of a client in the guest.
inline constexpr auto answer_deadline = std::chrono::minutes(2);
/// Stock waits for a minute and more for a GPU that is gone.
inline constexpr auto removal_deadline = std::chrono::minutes(3);
inline constexpr auto replug_deadline = std::chrono::minutes(5);

inline double in_seconds(std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
}

}  // namespace hotplug
