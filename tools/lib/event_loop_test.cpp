// SPDX-License-Identifier: GPL-2.0
// Purpose: that timers, descriptors, signals and idle work come when they should. Thread: one, and
// those that a test starts.
#include "lib/event_loop.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <thread>
#include <vector>

namespace hp {
namespace {

using namespace std::chrono_literals;

Fd signalled_eventfd() {
    return Fd(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
}

TEST(EventLoop, TimersFireInOrderAndCanBeCancelled) {
    EventLoop loop;
    std::vector<int> order;
    auto late = loop.after(20ms, [&] {
        order.push_back(2);
        loop.stop();
    });
    auto early = loop.after(1ms, [&] { order.push_back(1); });
    auto never = loop.after(2ms, [&] { order.push_back(3); });
    never.cancel();
    loop.run();
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(EventLoop, AReadyDescriptorCallsBackUntilItsHandleEnds) {
    EventLoop loop;
    const Fd fd = signalled_eventfd();
    int calls = 0;
    std::optional<EventLoop::Handle> watch;
    watch = loop.watch(fd.get(), EPOLLIN, [&](uint32_t events) {
        EXPECT_EQ(events, EPOLLIN);
        if (++calls == 3) {
            watch.reset();  // from inside its own callback
            loop.stop();
        }
    });
    loop.run();
    EXPECT_EQ(calls, 3);
}

TEST(EventLoop, AWatchEndedByItsNeighbourIsNotCalled) {
    EventLoop loop;
    const Fd first = signalled_eventfd();
    const Fd second = signalled_eventfd();
    EventLoop::Handle one;
    EventLoop::Handle two;
    int calls = 0;
    one = loop.watch(first.get(), EPOLLIN, [&](uint32_t) {
        ++calls;
        two.cancel();
        loop.stop();
    });
    two = loop.watch(second.get(), EPOLLIN, [&](uint32_t) {
        ++calls;
        one.cancel();
        loop.stop();
    });
    loop.run();
    EXPECT_EQ(calls, 1);
}

TEST(EventLoop, APausedWatchIsSilent) {
    EventLoop loop;
    const Fd fd = signalled_eventfd();
    int calls = 0;
    auto watch = loop.watch(fd.get(), EPOLLIN, [&](uint32_t) {
        ++calls;
        loop.stop();
    });
    loop.set_events(watch, 0);
    auto stop = loop.after(5ms, [&] { loop.stop(); });
    loop.run();
    EXPECT_EQ(calls, 0);
    loop.set_events(watch, EPOLLIN);
    loop.run();
    EXPECT_EQ(calls, 1);
}

TEST(EventLoop, IdleWorkThatHasMoreIsCalledAtOnce) {
    EventLoop loop;
    int turns = 0;
    loop.set_idle_work([&] {
        if (++turns == 1000) {
            loop.stop();
        }
        return turns < 1000 ? EventLoop::Idle::more : EventLoop::Idle::done;
    });
    loop.run();
    EXPECT_GE(turns, 1000);
}

TEST(EventLoop, ParkedWorkIsAskedAgainMoreAndMoreSlowly) {
    EventLoop loop;
    std::vector<EventLoop::Clock::time_point> turns;
    loop.set_idle_work([&] {
        turns.push_back(EventLoop::Clock::now());
        if (turns.size() == 12) {
            loop.stop();
        }
        return EventLoop::Idle::parked;
    });
    loop.run();
    // 100, 125, 156, ... us: never less, whatever else the machine does.
    ASSERT_GE(turns.size(), 12u);
    EXPECT_GE(turns[11] - turns[0], 4200us);
}

TEST(EventLoop, IdleWorkIsNotCalledWhileNothingHappens) {
    EventLoop loop;
    int turns = 0;
    loop.set_idle_work([&] {
        ++turns;
        return EventLoop::Idle::done;
    });
    auto stop = loop.after(20ms, [&] { loop.stop(); });
    loop.run();
    EXPECT_LE(turns, 4);
}

TEST(EventLoop, StopFromAnotherThreadWakesIt) {
    EventLoop loop;
    std::thread stopper([&] { loop.stop(); });
    loop.run();
    stopper.join();
    SUCCEED() << "run() returned";
}

TEST(EventLoop, SignalsArriveAsCalls) {
    EventLoop loop;
    int got = 0;
    auto signals = loop.on_signals({SIGUSR2}, [&](int signal) {
        got = signal;
        loop.stop();
    });
    ASSERT_EQ(::kill(::getpid(), SIGUSR2), 0);
    loop.run();
    EXPECT_EQ(got, SIGUSR2);
}

TEST(EventLoop, SpinningStillRunsTimers) {
    EventLoop loop;
    loop.set_spin(50us);
    bool fired = false;
    auto timer = loop.after(2ms, [&] {
        fired = true;
        loop.stop();
    });
    loop.run();
    EXPECT_TRUE(fired);
}

}  // namespace
}  // namespace hp
