// SPDX-License-Identifier: GPL-2.0
// Purpose: see host_clock.h.
// Thread: see host_clock.h.
#include "hotplug/machine/host_clock.h"

#ifdef __x86_64__
#include <time.h>
#include <x86intrin.h>

#include <cstdint>
#include <thread>
#endif

namespace hotplug {

#ifdef __x86_64__

namespace {

struct Sample {
    int64_t clock_ns = 0;
    int64_t ticks = 0;
};

/// Not the one that NTP changes the rate of.
int64_t clock_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// Both at one time: of several tries the one that was interrupted least.
Sample take_sample() {
    constexpr int tries = 100;
    Sample best;
    int64_t shortest = INT64_MAX;
    for (int i = 0; i < tries; ++i) {
        const int64_t before = clock_ns();
        const auto ticks = static_cast<int64_t>(__rdtsc());
        const int64_t took = clock_ns() - before;
        if (took < shortest) {
            shortest = took;
            best = {before + took / 2, ticks};
        }
    }
    return best;
}

}  // namespace

uint64_t measure_tsc_khz(std::chrono::milliseconds time) {
    const Sample first = take_sample();
    std::this_thread::sleep_for(time);
    const Sample last = take_sample();
    return static_cast<uint64_t>(static_cast<double>(last.ticks - first.ticks) * 1e6 /
                                 static_cast<double>(last.clock_ns - first.clock_ns));
}

#else

uint64_t measure_tsc_khz(std::chrono::milliseconds) {
    return 0;
}

#endif

uint64_t host_tsc_khz() {
    static const uint64_t khz = measure_tsc_khz(std::chrono::milliseconds(10));
    return khz;
}

}  // namespace hotplug
