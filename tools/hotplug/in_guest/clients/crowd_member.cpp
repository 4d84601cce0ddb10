// SPDX-License-Identifier: GPL-2.0
// Purpose: see crowd_member.h.
// Thread: one in each process.
#include "hotplug/in_guest/clients/crowd_member.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <optional>

#include "hotplug/in_guest/clients/aql_queue.h"
#include "hotplug/in_guest/clients/kfd_device.h"
#include "lib/fd.h"

namespace hp::clients {

namespace {

/// A queue whose one packet waits for a signal that never comes.
struct BusyQueue {
    KfdDevice device;
    KfdMemory signals;
    AqlQueue queue;

    static IoResult<BusyQueue> create(const KfdNode& node) {
        auto device = KfdDevice::open(node);
        if (!device) {
            return tl::unexpected(device.error());
        }
        auto signals = device->allocate(MemoryKind::userptr, 4096);
        if (!signals) {
            return tl::unexpected(signals.error());
        }
        auto queue = AqlQueue::create(*device, node);
        if (!queue) {
            return tl::unexpected(queue.error());
        }
        new (signals->at<AmdSignal>(0)) AmdSignal{.kind = AMD_SIGNAL_KIND_USER, .value = 1};
        new (signals->at<AmdSignal>(64)) AmdSignal{.kind = AMD_SIGNAL_KIND_USER, .value = 1};
        queue->submit_barrier(signals->address(), signals->address() + 64);
        return BusyQueue{std::move(*device), std::move(*signals), std::move(*queue)};
    }
};

[[noreturn]] void sleep_until_killed() {
    for (;;) {
        ::pause();
    }
}

void set_sigbus(Manner manner) {
    if (manner == Manner::ignores_sigbus) {
        ::signal(SIGBUS, SIG_IGN);
    } else if (manner == Manner::blocks_sigbus) {
        sigset_t blocked;
        sigemptyset(&blocked);
        sigaddset(&blocked, SIGBUS);
        ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
    }
}

void answer(const CrowdMember& member, const IoError& error) {
    const CrowdAnswer word{member.number, error.op, error.error};
    if (::write(member.answers, &word, sizeof word) != sizeof word) {
        ::_exit(EXIT_FAILURE);
    }
}

/// A call that takes the lock of the process's KFD data and looks at its list of GPUs, the lost
/// ones included. KFD refuses who only holds the file of another process.
IoError call_kfd(const Fd& kfd, bool of_another) {
    abi::GetProcessAperturesNew count{};
    const auto called = io_call(kfd.get(), abi::AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, &count,
                                "KFD_GET_PROCESS_APERTURES_NEW");
    const int error = called ? 0 : called.error().error;
    const int wanted = of_another ? EBADF : 0;
    return error == wanted ? IoError{nullptr, 0} : IoError{"KFD_GET_PROCESS_APERTURES_NEW", error};
}

[[noreturn]] void answer_questions(const CrowdMember& member, const Fd& kfd, bool of_another) {
    answer(member, {nullptr, 0});
    char question = 0;
    while (::read(member.questions, &question, sizeof question) == sizeof question) {
        answer(member, call_kfd(kfd, of_another));
    }
    ::_exit(EXIT_FAILURE);
}

}  // namespace

void live(const CrowdMember& member) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const int signal : {SIGTERM, SIGINT, SIGBUS}) {
        ::signal(signal, SIG_DFL);
    }
    set_sigbus(member.manner);
    const auto give_up = [&member](const IoError& error) {
        answer(member, error);
        ::_exit(EXIT_FAILURE);
    };
    std::optional<BusyQueue> queue;
    if (member.with_queue != nullptr) {
        auto made = BusyQueue::create(*member.with_queue);
        if (!made) {
            give_up(made.error());
        }
        queue.emplace(std::move(*made));
    }
    Fd kfd(::open("/dev/kfd", O_RDWR | O_CLOEXEC));
    if (!kfd) {
        give_up({"open", errno});
    }
    if (member.manner == Manner::sleeps_in_kernel || member.manner == Manner::child_has_file) {
        const bool share = member.manner == Manner::sleeps_in_kernel;
        const pid_t child = share ? ::vfork() : ::fork();
        if (child == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            answer_questions(member, kfd, /*of_another=*/true);
        }
        if (child < 0) {
            give_up({share ? "vfork" : "fork", errno});
        }
        kfd.reset();
        sleep_until_killed();
    }
    answer_questions(member, kfd, /*of_another=*/false);
}

}  // namespace hp::clients
