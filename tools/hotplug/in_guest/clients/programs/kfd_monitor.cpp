// SPDX-License-Identifier: GPL-2.0
// Purpose: kfd_monitor, a client like rocm-smi: it has /dev/kfd open, uses no GPU, and tells which
// signals it gets. Thread: one.
#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "hotplug/in_guest/clients/io.h"
#include "hotplug/in_guest/clients/program.h"
#include "hotplug/in_guest/clients/report.h"
#include "lib/fd.h"

namespace hp::clients {
namespace {

const Description self{
    .name = "kfd_monitor",
    .purpose = "Has /dev/kfd open, uses no GPU, and reports the signals it gets",
    .states = {{"signal", "a signal that it got"}},
};

/// Signals are taken from a descriptor rather than by a handler: a blocked SIGBUS kills nobody, and
/// none is missed.
IoResult<Fd> open_signals() {
    sigset_t wanted;
    sigemptyset(&wanted);
    for (const int signal : {SIGBUS, SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) {
        sigaddset(&wanted, signal);
    }
    ::sigprocmask(SIG_BLOCK, &wanted, nullptr);
    Fd signals(::signalfd(-1, &wanted, SFD_CLOEXEC));
    if (!signals) {
        return io_fail("signalfd");
    }
    return signals;
}

int run_client(bool ignore_sigbus) {
    Reporter report(self);
    const auto signals = open_signals();
    if (!signals) {
        return report.end("system", signals.error());
    }
    const Fd kfd(::open("/dev/kfd", O_RDWR | O_CLOEXEC));
    if (!kfd) {
        return report.end("device", {"open", errno});
    }
    report.ready({{"pid", ::getpid()}});
    for (;;) {
        signalfd_siginfo info{};
        if (::read(signals->get(), &info, sizeof info) != sizeof info) {
            return report.end("system", {"read", errno});
        }
        const int signal = static_cast<int>(info.ssi_signo);
        report.say("signal",
                   {{"signal", signal}, {"code", info.ssi_code}, {"sender", info.ssi_pid}});
        if (signal == SIGTERM || signal == SIGINT) {
            return report.end("done");
        }
        if (signal == SIGBUS && !ignore_sigbus) {
            return report.end("sigbus", {"SIGBUS", 0});
        }
    }
}

}  // namespace
}  // namespace hp::clients

int main(int argc, char** argv) {
    hp::clients::Program program(hp::clients::self);
    bool ignore_sigbus = false;
    program.add_flag("--ignore-sigbus", ignore_sigbus, "go on after SIGBUS");
    if (const auto status = program.parse(argc, argv)) {
        return *status;
    }
    return hp::clients::run_client(ignore_sigbus);
}
