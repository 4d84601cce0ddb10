// SPDX-License-Identifier: GPL-2.0
// Purpose: CLOCK_MONOTONIC in nanoseconds, the time base of traces and logs (the same as the
// kernel's, so two processes of a host agree on it). Thread: any.
#pragma once

#include <chrono>
#include <cstdint>

namespace hp {

inline uint64_t monotonic_ns() {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                     std::chrono::steady_clock::now().time_since_epoch())
                                     .count());
}

}  // namespace hp
