// SPDX-License-Identifier: GPL-2.0
// Purpose: backlog, a client that submits more than a ring takes at once and then asks, on a line
// of standard input, what became of it: whether each submission's fence signalled, and with what.
// The answer comes from sync_files, which outlive the GPU's node. Thread: one. Not modelled:
// results; without --executed a submission that was given up counts as well ended.
#include <linux/sync_file.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "hotplug/in_guest/clients/line_input.h"
#include "hotplug/in_guest/clients/program.h"
#include "hotplug/in_guest/clients/report.h"
#include "hotplug/in_guest/clients/signals.h"
#include "hotplug/in_guest/clients/submission.h"

namespace hp::clients {
namespace {

const Description self{
    .name = "backlog",
    .purpose = "Submits more than a ring takes, and reports later what became of it",
    .states = {{"submitted", "all submissions were made after it was told to"},
               {"fences", "how many fences have signalled, and the status of the last"}},
};

struct Options {
    std::string node;
    unsigned count = 8;
    unsigned patience_ms = 1000;
    bool executed = false;
    bool held = false;
};

using Backlog = std::vector<Fd>;

IoResult<Backlog> pile_up(const SmallJob& job, unsigned count) {
    Backlog fences;
    for (unsigned i = 0; i < count; ++i) {
        const auto fence = job.submit();
        if (!fence) {
            return tl::unexpected(fence.error());
        }
        auto sync_file = export_sync_file(job.device(), *fence);
        if (!sync_file) {
            return tl::unexpected(sync_file.error());
        }
        fences.push_back(std::move(*sync_file));
    }
    return fences;
}

/// Has every fence signalled when the patience ends, and if asked for, was the last executed? Says
/// how many have, and the last one's status.
IoResult<bool> all_ended(Reporter& report, const Backlog& backlog, const Options& options) {
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(options.patience_ms);
    unsigned signalled = 0;
    for (const Fd& fence : backlog) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
        pollfd wanted{fence.get(), POLLIN, 0};
        const int ready = ::poll(&wanted, 1, static_cast<int>(std::max(left.count(), 0l)));
        if (ready < 0) {
            return io_fail("poll");
        }
        signalled += static_cast<unsigned>(ready);
    }
    sync_file_info info{};
    const auto asked =
        io_call(backlog.back().get(), SYNC_IOC_FILE_INFO, &info, "SYNC_IOC_FILE_INFO");
    if (!asked) {
        return tl::unexpected(asked.error());
    }
    report.say("fences",
               {{"signalled", signalled}, {"of", backlog.size()}, {"status_of_last", info.status}});
    return signalled == backlog.size() && (!options.executed || info.status == 1);
}

int run_client(const Options& options) {
    Reporter report(self);
    LineInput input;
    auto job = SmallJob::create(options.node);
    if (!job) {
        return report.end("device", job.error());
    }
    if (options.held) {
        // What a first submission waits for, its page tables for example, is done with it.
        const auto first = pile_up(*job, 1);
        if (!first) {
            return report.end("device", first.error());
        }
        const auto ended = all_ended(report, *first, options);
        if (!ended) {
            return report.end("system", ended.error());
        }
        if (!*ended) {
            report.done(false);
            return report.end("done");
        }
        report.ready({{"submissions", 1}});
        if (!input.next()) {
            return report.end("signal");
        }
    }
    if (options.held) {
        job->hold();
    }
    const auto backlog = pile_up(*job, options.count);
    if (!backlog) {
        return report.end("device", backlog.error());
    }
    if (options.held) {
        report.say("submitted", {{"submissions", options.count}});
    } else {
        report.ready({{"submissions", options.count}});
    }
    auto line = input.next();
    if (line == "finish") {
        job->let_go();
        line = input.next();
    }
    if (!line) {
        return report.end("signal");
    }
    const auto ended = all_ended(report, *backlog, options);
    if (!ended) {
        return report.end("system", ended.error());
    }
    report.done(*ended);
    return report.end("done");
}

}  // namespace
}  // namespace hp::clients

int main(int argc, char** argv) {
    hp::clients::Program program(hp::clients::self);
    hp::clients::Options options;
    program.add_node(options.node);
    program.add_option("--count", options.count, "SUBMISSIONS", "submissions").within(1, 1024);
    program.add_option("--patience-ms", options.patience_ms, "ms",
                       "how long a fence may take when asked");
    program.add_flag("--executed", options.executed,
                     "the last has to be executed, and not given up");
    program.add_flag(
        "--held", options.held,
        "first execute a submission; make the rest when told to by a line, and let them "
        "run on until the line 'finish'");
    if (const auto status = program.parse(argc, argv)) {
        return *status;
    }
    hp::clients::handle_signals();
    return hp::clients::run_client(options);
}
