// SPDX-License-Identifier: GPL-2.0
// Purpose: signals eventfds that belong to somebody else, in a time that has an end. Such an
// eventfd may be a blocking one (its flags are its owner's, too) and may be filled between a look
// at it and the write. A timer interrupts a write that does not return. Thread: the one that
// signals first.
#pragma once

#include <signal.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdint>

#include "lib/thread_rule.h"

namespace gpuemu {

class EventfdWriter {
public:
    /// After at most this long a write is given up.
    static constexpr std::chrono::milliseconds longest_write{1000};

    enum class Outcome {
        signalled,
        full,   // as many signals are pending as there can be: nothing is lost by it
        stuck,  // its owner plays with it: do not try again
    };

    EventfdWriter() = default;
    ~EventfdWriter();
    EventfdWriter(const EventfdWriter&) = delete;
    EventfdWriter& operator=(const EventfdWriter&) = delete;

    /// Adds one to the counter of an eventfd.
    Outcome signal(int eventfd);

    /// The write alone, which may block at first. For tests.
    Outcome write(int eventfd);

private:
    static void on_signal(int, siginfo_t* info, void*);
    bool make_timer();
    bool arm();
    void expired();

    timer_t timer_{};
    bool has_timer_ = false;
    // Shared with the signal handler, which runs on this thread.
    std::atomic<bool> writing_ = false;
    std::atomic<bool> late_ = false;
    std::atomic<bool> armed_ = false;
    std::chrono::steady_clock::time_point armed_at_;
    hp::ThreadRule thread_;
};

}  // namespace gpuemu
