// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of EventfdWriter.
// Thread: the test's, and those that play with an eventfd.
#include "gpu-emu/transport/eventfd_writer.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <thread>

#include "lib/fd.h"

namespace gpuemu {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Outcome = EventfdWriter::Outcome;

constexpr uint64_t largest = ~0ull - 1;

void fill(int eventfd) {
    ASSERT_EQ(::write(eventfd, &largest, sizeof largest), ssize_t{sizeof largest});
}

TEST(EventfdWriter, CountsUp) {
    const hp::Fd event(::eventfd(0, EFD_CLOEXEC));
    EventfdWriter writer;
    EXPECT_EQ(writer.signal(event.get()), Outcome::signalled);
    EXPECT_EQ(writer.signal(event.get()), Outcome::signalled);
    uint64_t count = 0;
    ASSERT_EQ(::read(event.get(), &count, sizeof count), ssize_t{sizeof count});
    EXPECT_EQ(count, 2u);
}

TEST(EventfdWriter, WhatIsFullIsPendingAlready) {
    const hp::Fd event(::eventfd(0, EFD_CLOEXEC));
    fill(event.get());
    EventfdWriter writer;
    EXPECT_EQ(writer.signal(event.get()), Outcome::full);
}

/// Filled behind the look at it.
TEST(EventfdWriter, AWriteThatBlocksIsGivenUp) {
    const hp::Fd event(::eventfd(0, EFD_CLOEXEC));
    fill(event.get());
    EventfdWriter writer;
    const auto begin = Clock::now();
    EXPECT_EQ(writer.write(event.get()), Outcome::stuck);
    EXPECT_LT(Clock::now() - begin, 5 * EventfdWriter::longest_write);
    const hp::Fd other(::eventfd(0, EFD_CLOEXEC));
    EXPECT_EQ(writer.signal(other.get()), Outcome::signalled) << "it goes on with others";
}

TEST(EventfdWriter, AWriteThatWaitsForALittleWhileArrives) {
    const hp::Fd event(::eventfd(0, EFD_CLOEXEC));
    fill(event.get());
    EventfdWriter writer;
    std::thread reader([&] {
        std::this_thread::sleep_for(50ms);
        uint64_t count = 0;
        EXPECT_EQ(::read(event.get(), &count, sizeof count), ssize_t{sizeof count});
    });
    EXPECT_EQ(writer.write(event.get()), Outcome::signalled);
    reader.join();
}

/// The timer ends by itself: no wake-up when nothing is to be done.
TEST(EventfdWriter, AfterwardsTheThreadIsLeftAlone) {
    const hp::Fd event(::eventfd(0, EFD_CLOEXEC));
    EventfdWriter writer;
    EXPECT_EQ(writer.signal(event.get()), Outcome::signalled);
    const timespec long_enough{.tv_sec = 1, .tv_nsec = 300'000'000};
    timespec left{};
    EXPECT_EQ(::nanosleep(&long_enough, &left), -1) << "the timer looks once whether all is well";
    const timespec quiet{.tv_sec = 0, .tv_nsec = 300'000'000};
    EXPECT_EQ(::nanosleep(&quiet, nullptr), 0) << "and then no more";
}

}  // namespace
}  // namespace gpuemu
