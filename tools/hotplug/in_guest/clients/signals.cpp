// SPDX-License-Identifier: GPL-2.0
// Purpose: the signals a client lives through: SIGBUS from memory that went away with its device,
// SIGBUS sent by amdkfd when a GPU is removed, and the wish to end. Thread: handlers run in the
// client's one thread. Not modelled: several threads touching device memory.
#include "hotplug/in_guest/clients/signals.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>

namespace hp::clients {

namespace {

std::atomic<std::uint64_t> faults;
std::atomic<std::uint64_t> sent;
std::atomic<std::uintptr_t> last_address;
std::atomic<bool> stop;
std::uintptr_t page_mask;

void on_sigbus(int, siginfo_t* info, void*) {
    const int saved_errno = errno;
    const bool is_fault = info->si_code > 0 && info->si_code != SI_KERNEL;
    if (!is_fault) {
        sent.fetch_add(1);
        errno = saved_errno;
        return;
    }
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    last_address = address;
    faults.fetch_add(1);
    // The interrupted instruction is executed again on return, and now finds memory.
    void* page = reinterpret_cast<void*>(address & page_mask);
    if (::mmap(page, ~page_mask + 1, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
        std::_Exit(128 + SIGBUS);  // returning would fault for ever
    }
    errno = saved_errno;
}

void on_stop(int) {
    stop = true;
}

}  // namespace

void handle_signals() {
    page_mask = ~(static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE)) - 1);
    struct sigaction action {};
    action.sa_sigaction = on_sigbus;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    ::sigaction(SIGBUS, &action, nullptr);
    action.sa_handler = on_stop;
    action.sa_flags = 0;  // a blocking read of standard input ends
    ::sigaction(SIGTERM, &action, nullptr);
    ::sigaction(SIGINT, &action, nullptr);
}

SigbusCount sigbus_count() {
    return {faults, sent, last_address};
}

bool stop_wanted() {
    return stop;
}

int wait_unless_stopped(std::span<pollfd> wanted,
                        std::optional<std::chrono::milliseconds> patience) {
    using std::chrono::nanoseconds;
    sigset_t enders;
    sigset_t before;
    sigemptyset(&enders);
    sigaddset(&enders, SIGTERM);
    sigaddset(&enders, SIGINT);
    ::sigprocmask(SIG_BLOCK, &enders, &before);
    const auto until = std::chrono::steady_clock::now() + patience.value_or(std::chrono::milliseconds{0});
    int ready = -1;
    while (ready < 0 && !stop_wanted()) {
        const auto left =
            std::max<nanoseconds>(until - std::chrono::steady_clock::now(), nanoseconds{0});
        constexpr long ns_per_s = 1'000'000'000;
        const timespec timeout{left.count() / ns_per_s, left.count() % ns_per_s};
        ready = ::ppoll(wanted.data(), wanted.size(), patience ? &timeout : nullptr, &before);
        if (ready < 0 && errno != EINTR) {
            ready = static_cast<int>(wanted.size());
        }
    }
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return stop_wanted() ? 0 : ready;
}

}  // namespace hp::clients
