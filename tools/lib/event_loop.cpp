// SPDX-License-Identifier: GPL-2.0
// Purpose: see event_loop.h.
// Thread: see event_loop.h.
#include "lib/event_loop.h"

#include <sys/eventfd.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <span>
#include <system_error>
#include <vector>

namespace hp {
namespace {

using namespace std::chrono_literals;

constexpr EventLoop::Clock::duration park_first = 100us;
constexpr EventLoop::Clock::duration park_longest = 10ms;
constexpr std::chrono::nanoseconds no_limit = std::chrono::nanoseconds::max();

[[noreturn]] void throw_errno(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

/// epoll_wait() with a wait in nanoseconds: parked engines are asked again after 100 us.
int wait_for_events(int epoll, std::span<epoll_event> events, std::chrono::nanoseconds limit) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
    const timespec time{.tv_sec = seconds.count(), .tv_nsec = (limit - seconds).count()};
    return ::epoll_pwait2(epoll, events.data(), static_cast<int>(events.size()),
                          limit == no_limit ? nullptr : &time, nullptr);
}

}  // namespace

void EventLoop::Handle::cancel() {
    if (EventLoop* loop = std::exchange(loop_, nullptr)) {
        loop->remove(id_);
    }
}

EventLoop::EventLoop()
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      stop_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = 0;
    if (!epoll_ || !stop_event_ ||
        ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, stop_event_.get(), &event) != 0) {
        throw_errno("event loop");
    }
}

EventLoop::~EventLoop() = default;

EventLoop::Handle EventLoop::watch(int fd, uint32_t events, FdCallback callback) {
    return Handle(*this, add_watch(fd, events, std::move(callback), Fd()));
}

uint64_t EventLoop::add_watch(int fd, uint32_t events, FdCallback callback, Fd owned) {
    const uint64_t id = next_id_++;
    epoll_event event{};
    event.events = events;
    event.data.u64 = id;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
        throw_errno("watch a file descriptor");
    }
    watches_.emplace(id, std::make_shared<Watch>(Watch{fd, std::move(callback), std::move(owned)}));
    return id;
}

void EventLoop::set_events(const Handle& watch, uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = watch.id_;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, watches_.at(watch.id_)->fd, &event) != 0) {
        throw_errno("change a watch");
    }
}

EventLoop::Handle EventLoop::after(Clock::duration delay, Callback callback) {
    const uint64_t id = next_id_++;
    timers_.emplace(id, Timer{Clock::now() + delay, std::move(callback)});
    return Handle(*this, id);
}

EventLoop::Handle EventLoop::on_signals(std::initializer_list<int> signals,
                                        std::function<void(int signal)> callback) {
    sigset_t set;
    ::sigemptyset(&set);
    for (int signal : signals) {
        ::sigaddset(&set, signal);
    }
    if (::pthread_sigmask(SIG_BLOCK, &set, nullptr) != 0) {
        throw_errno("block signals");
    }
    Fd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!fd) {
        throw_errno("signalfd");
    }
    const int raw = fd.get();
    auto report = [raw, callback = std::move(callback)](uint32_t) {
        signalfd_siginfo info{};
        if (::read(raw, &info, sizeof info) == sizeof info) {
            callback(static_cast<int>(info.ssi_signo));
        }
    };
    return Handle(*this, add_watch(raw, EPOLLIN, std::move(report), std::move(fd)));
}

void EventLoop::remove(uint64_t id) {
    if (timers_.erase(id) != 0) {
        return;
    }
    auto found = watches_.find(id);
    if (found == watches_.end()) {
        return;  // a timer that has fired
    }
    // Fails only when the owner closed the descriptor first, which took it out of the set.
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, found->second->fd, nullptr);
    watches_.erase(found);
}

void EventLoop::idle_turn() {
    if (!idle_work_) {
        return;
    }
    idle_ = idle_work_();
    if (idle_ != Idle::parked) {
        park_ = park_first;
    }
}

void EventLoop::run() {
    std::array<epoll_event, 16> events{};
    Clock::time_point last_event = Clock::now() - spin_;
    park_ = park_first;
    idle_turn();
    while (!stopping_) {
        const int count = wait_for_events(epoll_.get(), events, wait_time(last_event));
        if (count < 0 && errno != EINTR) {
            throw_errno("epoll_pwait2");
        }
        if (count > 0 && spin_ != Clock::duration::zero()) {
            last_event = Clock::now();
        }
        for (int i = 0; i < count; ++i) {
            dispatch(events[static_cast<size_t>(i)]);
        }
        run_timers();
        if (count <= 0 && idle_ == Idle::parked) {
            // What was waited for is found a quarter of that time late at most.
            park_ = std::min(park_ + park_ / 4, park_longest);
        }
        idle_turn();
    }
    stopping_ = false;
    uint64_t count = 0;
    // Nothing to read if stop() has not come to its write yet: then the next run() wakes once for
    // nothing.
    [[maybe_unused]] const ssize_t drained = ::read(stop_event_.get(), &count, sizeof count);
}

void EventLoop::dispatch(const epoll_event& event) {
    if (event.data.u64 == 0) {
        return;  // it only wakes; run() looks at stopping_
    }
    // A handler may have ended this watch in the same round; the copy keeps it alive if it ends
    // itself.
    const auto found = watches_.find(event.data.u64);
    if (found != watches_.end()) {
        const std::shared_ptr<Watch> watch = found->second;
        watch->callback(event.events);
    }
}

void EventLoop::run_timers() {
    if (timers_.empty()) {
        return;
    }
    std::vector<std::pair<Clock::time_point, uint64_t>> due;
    const Clock::time_point now = Clock::now();
    for (const auto& [id, timer] : timers_) {
        if (timer.at <= now) {
            due.emplace_back(timer.at, id);
        }
    }
    std::sort(due.begin(), due.end());
    for (const auto& [at, id] : due) {
        // One of them may cancel another.
        if (auto node = timers_.extract(id)) {
            node.mapped().callback();
        }
    }
}

std::chrono::nanoseconds EventLoop::wait_time(Clock::time_point last_event) const {
    if (idle_ == Idle::more) {
        return 0ns;
    }
    const bool has_timers = !timers_.empty();
    if (spin_ == Clock::duration::zero() && !has_timers) {
        return idle_ == Idle::parked ? park_ : no_limit;
    }
    const Clock::time_point now = Clock::now();
    if (now - last_event < spin_) {
        return 0ns;
    }
    std::chrono::nanoseconds wait = idle_ == Idle::parked ? park_ : no_limit;
    for (const auto& [id, timer] : timers_) {
        wait = std::min(wait, std::max<std::chrono::nanoseconds>(timer.at - now, 0ns));
    }
    return wait;
}

void EventLoop::stop() {
    stopping_ = true;
    const uint64_t one = 1;
    // Cannot fail: the counter would have to overflow.
    [[maybe_unused]] const ssize_t written = ::write(stop_event_.get(), &one, sizeof one);
}

}  // namespace hp
