// SPDX-License-Identifier: GPL-2.0
// Purpose: the moment at which a wait is given up; and Ctrl-C, or the end of the time that all of
// this may take, which end every wait at once.
// Thread: values; interrupt_all() may be called from a signal handler, the rest from any thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>

namespace hotplug {

/// Every wait of the harness takes one. After interrupt_all(), and once the limit of limit_all()
/// has passed, all deadlines but those made by for_cleanup() count as expired, so that no wait
/// outlives a Ctrl-C by more than `slice`.
class Deadline {
public:
    using Clock = std::chrono::steady_clock;

    /// How long a wait sleeps at most before it looks for an interruption.
    static constexpr std::chrono::milliseconds slice{50};

    static Deadline after(Clock::duration time) { return Deadline(time, false); }
    /// For putting things away: not shortened by interrupt_all().
    static Deadline for_cleanup(Clock::duration time) { return Deadline(time, true); }

    /// The earlier one of this and `time` from now, interrupted as this one is.
    Deadline within(Clock::duration time) const;

    bool expired() const { return remaining() == Clock::duration::zero(); }
    /// Never negative; zero when expired or interrupted.
    Clock::duration remaining() const;
    /// remaining() cut to `slice`, in whole milliseconds rounded up: the timeout of one poll(2).
    int poll_timeout_ms() const;

    /// The line a failed wait reports: "waited 30.0 s for the agent's hello".
    std::string missed(std::string_view awaited) const;

    /// Sleeps `time` or until expired: the pause between two looks at what sends no event.
    void pause(Clock::duration time) const;

    /// Waits until `ready()` holds; false when the deadline passed first. `lock` guards what
    /// `ready` reads.
    template <typename Predicate>
    bool wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
              Predicate ready) const {
        while (!ready()) {
            if (expired()) {
                return false;
            }
            changed.wait_for(lock, std::min<Clock::duration>(remaining(), slice));
        }
        return true;
    }

    /// Ends all waits of the process, now and later. Async-signal-safe.
    static void interrupt_all() noexcept;
    /// Ends all waits of the process `time` from now.
    static void limit_all(Clock::duration time) noexcept;
    /// By either of these.
    static bool interrupted() noexcept;
    /// The limit has passed, and nobody interrupted before or since.
    static bool out_of_time() noexcept;
    /// Lets waits wait again; for tests and for a process that goes on after a Ctrl-C.
    static void clear_interruption() noexcept;
    static void lift_limit() noexcept;

private:
    Deadline(Clock::duration time, bool cleanup)
        : start_(Clock::now()), end_(start_ + time), cleanup_(cleanup) {}

    Clock::time_point start_;
    Clock::time_point end_;
    bool cleanup_;
};

}  // namespace hotplug
