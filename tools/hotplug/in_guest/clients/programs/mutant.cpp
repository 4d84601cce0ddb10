// SPDX-License-Identifier: GPL-2.0
// Purpose: mutant, a client that does no work and ends wrongly on purpose, so that a test of the
// harness can see each wrong end noticed. It makes progress as a worker does, and when a GPU's DRM
// nodes go, which it is told by uevent, it does what its options say.
// Thread: one.
// Not modelled: a GPU. It opens none, so that no driver can be blamed for what it says.
#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>
#include <thread>

#include "hotplug/in_guest/clients/program.h"
#include "hotplug/in_guest/clients/report.h"
#include "hotplug/in_guest/clients/signals.h"
#include "hotplug/in_guest/clients/uevents.h"

namespace hp::clients {
namespace {

const Description self{
    .name = "mutant",
    .purpose = "Does no work, and misbehaves when a GPU is lost",
    .worker = true,
};

using std::chrono::milliseconds;

/// Between two results: a worker says ten lines a second at most.
constexpr milliseconds pace{100};

struct Options {
    bool early = false;     ///< ends before anything was lost, after its first results
    bool never = false;     ///< goes on
    bool bad = false;       ///< its next result is wrong
    bool still = false;     ///< makes no more progress
    unsigned after_ms = 0;  ///< what it does, it does that much later
    std::string reason = "device";
    int error = ENODEV;    ///< of its last line
    int report_error = 0;  ///< not 0: an error that it goes on after
    bool sigbus = false;   ///< says that it caught SIGBUS
    int signal = 0;        ///< not 0: that one ends it
};

bool tells_of_loss(const Uevent& event) {
    return member(event, "ACTION") == "remove" && member(event, "SUBSYSTEM") == "drm";
}

/// Works until DRM nodes go, or a signal asks it to end: false.
IoResult<bool> work_until_loss(Uevents& uevents, Reporter& report) {
    while (!stop_wanted()) {
        report.done(true);
        const auto event = uevents.next(pace);
        if (!event) {
            return tl::unexpected(event.error());
        }
        if (*event && tells_of_loss(**event)) {
            return true;
        }
    }
    return false;
}

int go_on(const Options& options, Reporter& report) {
    while (!stop_wanted()) {
        if (!options.still) {
            report.done(true);
        }
        std::this_thread::sleep_for(pace);
    }
    return report.end("signal");
}

int run_client(const Options& options) {
    Reporter report(self);
    auto uevents = Uevents::open();
    if (!uevents) {
        return report.end("system", uevents.error());
    }
    report.ready();
    if (options.early) {
        report.done(true);
    } else {
        const auto lost = work_until_loss(*uevents, report);
        if (!lost) {
            return report.end("system", lost.error());
        }
        if (!*lost) {
            return report.end("signal");
        }
    }
    std::this_thread::sleep_for(milliseconds(options.after_ms));
    if (options.signal != 0) {
        std::signal(options.signal, SIG_DFL);
        std::raise(options.signal);
    }
    if (options.sigbus) {
        report.error({"SIGBUS", 0});
    }
    if (options.report_error != 0) {
        report.error({"mutant", options.report_error});
    }
    if (options.bad) {
        report.done(false);
    }
    if (options.never || options.still) {
        return go_on(options, report);
    }
    return report.end(options.reason.c_str(), {"mutant", options.error});
}

}  // namespace
}  // namespace hp::clients

int main(int argc, char** argv) {
    hp::clients::Program program(hp::clients::self);
    hp::clients::Options options;
    program.add_flag("--early", options.early, "end before anything is lost");
    program.add_flag("--never", options.never, "do not end");
    program.add_flag("--still", options.still, "do not end, and make no progress");
    program.add_flag("--bad", options.bad, "have a wrong result");
    program.add_option("--after-ms", options.after_ms, "ms", "do all of it that much later");
    program.add_option("--reason", options.reason, "REASON", "of the end");
    program.add_option("--errno", options.error, "ERRNO", "of the end");
    program.add_option("--error", options.report_error, "ERRNO", "say an error of this errno");
    program.add_flag("--sigbus", options.sigbus, "say that SIGBUS was caught");
    program.add_option("--signal", options.signal, "SIGNAL", "end by this signal").within(1, 64);
    if (const auto status = program.parse(argc, argv)) {
        return *status;
    }
    hp::clients::handle_signals();
    return hp::clients::run_client(options);
}
