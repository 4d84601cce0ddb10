// SPDX-License-Identifier: GPL-2.0
// Purpose: see guest_clock.h.
// Thread: see guest_clock.h.
#include "hotplug/guest/guest_clock.h"

#include <chrono>
#include <optional>

namespace hotplug {

namespace {

constexpr int exchanges = 5;

}  // namespace

hp::Result<void> GuestClock::match(const Ask& ask) {
    std::optional<Deadline::Clock::duration> quickest;
    Deadline::Clock::time_point zero;
    for (int i = 0; i < exchanges; ++i) {
        const auto before = Deadline::Clock::now();
        const auto guest_time = ask();
        const auto took = Deadline::Clock::now() - before;
        if (!guest_time) {
            return tl::unexpected(guest_time.error());
        }
        if (!quickest || took < *quickest) {
            quickest = took;
            zero = before + took / 2 - std::chrono::microseconds(*guest_time);
        }
    }
    std::lock_guard lock(mutex_);
    zero_ = zero;
    return {};
}

uint64_t GuestClock::guest_us(Deadline::Clock::time_point when) const {
    std::lock_guard lock(mutex_);
    const auto time = std::chrono::duration_cast<std::chrono::microseconds>(when - zero_);
    return time.count() < 0 ? 0 : static_cast<uint64_t>(time.count());
}

}  // namespace hotplug
