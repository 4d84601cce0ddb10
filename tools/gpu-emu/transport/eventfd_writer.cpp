// SPDX-License-Identifier: GPL-2.0
// Purpose: EventfdWriter on a POSIX timer that sends its signal to the writing thread. The timer is
// armed for several writes together and disarms itself behind the last of them, so it costs a
// system call a second at most, and nothing when no interrupt is sent.
// Thread: the one that signals first; the signal handler runs on it.
#include "gpu-emu/transport/eventfd_writer.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "lib/log.h"

namespace gpuemu {
namespace {

using namespace std::chrono_literals;

const int timer_signal = SIGRTMIN + 3;
constexpr auto again_after = 100ms;  // the signal may come just before the write blocks

timespec time_of(std::chrono::milliseconds time) {
    return {.tv_sec = time.count() / 1000, .tv_nsec = time.count() % 1000 * 1'000'000};
}

}  // namespace

EventfdWriter::~EventfdWriter() {
    if (has_timer_) {
        ::timer_delete(timer_);
    }
}

void EventfdWriter::on_signal(int, siginfo_t* info, void*) {
    const int error = errno;
    static_cast<EventfdWriter*>(info->si_value.sival_ptr)->expired();
    errno = error;
}

void EventfdWriter::expired() {
    if (writing_) {
        late_ = true;
        return;
    }
    const itimerspec never{};
    ::timer_settime(timer_, 0, &never, nullptr);
    armed_ = false;
}

bool EventfdWriter::make_timer() {
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO;  // no SA_RESTART: the write is to end
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = timer_signal;
    event.sigev_value.sival_ptr = this;
    event._sigev_un._tid = ::gettid();
    has_timer_ = ::sigaction(timer_signal, &action, nullptr) == 0 &&
                 ::timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
    if (!has_timer_) {
        hp::log::error("no timer for interrupts", {{"error", std::strerror(errno)}});
    }
    return has_timer_;
}

/// Called while writing_ is set: from then on the timer does not disarm itself.
bool EventfdWriter::arm() {
    if (!has_timer_ && !make_timer()) {
        return false;
    }
    const auto now = std::chrono::steady_clock::now();
    if (armed_ && now - armed_at_ < longest_write / 2) {
        return true;
    }
    armed_ = true;
    armed_at_ = now;
    const itimerspec deadline{.it_interval = time_of(again_after),
                              .it_value = time_of(longest_write)};
    return ::timer_settime(timer_, 0, &deadline, nullptr) == 0;
}

EventfdWriter::Outcome EventfdWriter::signal(int eventfd) {
    pollfd room{.fd = eventfd, .events = POLLOUT, .revents = 0};
    return ::poll(&room, 1, 0) == 1 ? write(eventfd) : Outcome::full;
}

EventfdWriter::Outcome EventfdWriter::write(int eventfd) {
    thread_.check();
    const uint64_t one = 1;
    late_ = false;
    writing_ = true;
    Outcome outcome = Outcome::stuck;
    if (arm()) {
        ssize_t written = 0;
        do {
            written = ::write(eventfd, &one, sizeof one);
        } while (written < 0 && errno == EINTR && !late_);
        if (written == sizeof one) {
            outcome = Outcome::signalled;
        } else if (errno == EAGAIN) {
            outcome = Outcome::full;
        }
    }
    writing_ = false;
    return outcome;
}

}  // namespace gpuemu
