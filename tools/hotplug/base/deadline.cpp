// SPDX-License-Identifier: GPL-2.0
// Purpose: see deadline.h.
// Thread: see deadline.h.
#include "hotplug/base/deadline.h"

#include <fmt/format.h>

#include <atomic>
#include <thread>

namespace hotplug {

namespace {

std::atomic<bool> interruption{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");
std::atomic<Deadline::Clock::time_point> limit{Deadline::Clock::time_point::max()};

}  // namespace

Deadline Deadline::within(Clock::duration time) const {
    Deadline nearer(time, cleanup_);
    nearer.end_ = std::min(nearer.end_, end_);
    return nearer;
}

Deadline::Clock::duration Deadline::remaining() const {
    if (!cleanup_ && interrupted()) {
        return Clock::duration::zero();
    }
    return std::max(end_ - Clock::now(), Clock::duration::zero());
}

int Deadline::poll_timeout_ms() const {
    auto time = std::min<Clock::duration>(remaining(), slice);
    return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(time).count());
}

std::string Deadline::missed(std::string_view awaited) const {
    if (!cleanup_ && out_of_time()) {
        return fmt::format("out of time while waiting for {}", awaited);
    }
    if (!cleanup_ && interrupted()) {
        return fmt::format("interrupted while waiting for {}", awaited);
    }
    std::chrono::duration<double> waited = Clock::now() - start_;
    return fmt::format("waited {:.1f} s in vain for {}", waited.count(), awaited);
}

void Deadline::pause(Clock::duration time) const {
    Deadline end = within(time);
    while (!end.expired()) {
        std::this_thread::sleep_for(std::min<Clock::duration>(end.remaining(), slice));
    }
}

void Deadline::interrupt_all() noexcept {
    interruption.store(true);
}

void Deadline::limit_all(Clock::duration time) noexcept {
    limit.store(Clock::now() + time);
}

bool Deadline::interrupted() noexcept {
    return interruption.load() || out_of_time();
}

bool Deadline::out_of_time() noexcept {
    return !interruption.load() && Clock::now() >= limit.load();
}

void Deadline::clear_interruption() noexcept {
    interruption.store(false);
}

void Deadline::lift_limit() noexcept {
    limit.store(Clock::time_point::max());
}

}  // namespace hotplug
