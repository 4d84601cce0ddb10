// SPDX-License-Identifier: GPL-2.0
// Purpose: one thread waiting for file descriptors, timers and signals (epoll), with a slot for
// work that is done between events. Watches and timers are owned by whoever asked for them: the
// handle's end is the end of the calls. Thread: the thread that calls run(), construction apart;
// only stop() may be called from others and from signal handlers. Does not model: priorities;
// handlers are called in the order in which the kernel reports.
#pragma once

#include <sys/epoll.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "lib/fd.h"

namespace hp {

class EventLoop {
public:
    using Clock = std::chrono::steady_clock;
    using Callback = std::function<void()>;
    using FdCallback = std::function<void(uint32_t epoll_events)>;

    /// What idle work says of itself.
    enum class Idle {
        done,    // nothing to do until an event
        more,    // call again at once, after a look for events
        parked,  // waits for something that makes no event: call again soon (100 us, then longer up
                 // to 10 ms, by a quarter of what was waited)
    };

    /// Ends its watch or timer when destroyed. Must not outlive the loop.
    class Handle {
    public:
        Handle() = default;
        Handle(Handle&& other) noexcept
            : loop_(std::exchange(other.loop_, nullptr)), id_(other.id_) {}
        Handle& operator=(Handle&& other) noexcept {
            if (this != &other) {
                cancel();
                loop_ = std::exchange(other.loop_, nullptr);
                id_ = other.id_;
            }
            return *this;
        }
        ~Handle() { cancel(); }

        void cancel();
        explicit operator bool() const { return loop_ != nullptr; }

    private:
        friend class EventLoop;
        Handle(EventLoop& loop, uint64_t id) : loop_(&loop), id_(id) {}

        EventLoop* loop_ = nullptr;
        uint64_t id_ = 0;
    };

    EventLoop();  // throws std::system_error
    ~EventLoop();
    EventLoop(const EventLoop&) = delete;
    EventLoop& operator=(const EventLoop&) = delete;

    /// Calls back while any of `events` (EPOLLIN, EPOLLOUT, ...) holds on `fd`, which stays the
    /// caller's. Throws std::system_error when the kernel has no room for it.
    [[nodiscard]] Handle watch(int fd, uint32_t events, FdCallback callback);

    /// Changes what an existing watch waits for; 0 pauses it (errors and hang-ups are reported all
    /// the same).
    void set_events(const Handle& watch, uint32_t events);

    /// Calls back once. The handle stays true afterwards; it only means "not cancelled".
    [[nodiscard]] Handle after(Clock::duration delay, Callback callback);

    /// Blocks `signals` in the calling thread (do it before others are started) and has them
    /// reported here.
    [[nodiscard]] Handle on_signals(std::initializer_list<int> signals,
                                    std::function<void(int signal)> callback);

    /// The work between events; one slot. Called after every round of events and whenever
    /// idle_turn() is called.
    void set_idle_work(std::function<Idle()> work) { idle_work_ = std::move(work); }

    /// Gives the idle work a turn now: for a handler that treats several messages in one call.
    void idle_turn();

    /// After an event, keep asking for that long before sleeping: trades CPU time for the latency
    /// of a wake-up.
    void set_spin(Clock::duration spin) { spin_ = spin; }

    /// Until stop(). A stop() before run() counts.
    void run();
    void stop();

private:
    struct Watch {
        int fd = -1;
        FdCallback callback;
        Fd owned;  // signalfd: ours
    };
    struct Timer {
        Clock::time_point at;
        Callback callback;
    };

    uint64_t add_watch(int fd, uint32_t events, FdCallback callback, Fd owned);
    void remove(uint64_t id);
    void dispatch(const epoll_event& event);
    void run_timers();
    std::chrono::nanoseconds wait_time(Clock::time_point last_event) const;

    Fd epoll_;
    Fd stop_event_;
    std::atomic<bool> stopping_ = false;
    uint64_t next_id_ = 1;  // 0 is stop_event_
    std::unordered_map<uint64_t, std::shared_ptr<Watch>> watches_;
    std::map<uint64_t, Timer> timers_;  // few at a time: searched, not sorted
    std::function<Idle()> idle_work_;
    Idle idle_ = Idle::done;
    Clock::duration park_{};
    Clock::duration spin_{};
};

}  // namespace hp
