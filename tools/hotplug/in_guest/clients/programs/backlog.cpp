// SPDX-License-Identifier: GPL-2.0
// Purpose: backlog, a client that submits more than a ring takes at once and then asks, on a line
// of standard input, what became of it: whether each submission's fence signalled, and with what.
// The answer comes from sync_files, which outlive the GPU's node. Thread: one. Not modelled:
// results; a submission that was executed counts as well ended.
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
    .purpose = "Submits more than a ring takes, and tells later what became of it",
    .states = {{"fences", "how many fences have signalled, and the status of the last"}},
};

struct Options {
    std::string node;
    unsigned count = 8;
    unsigned patience_ms = 1000;
};

struct Backlog {
    SmallJob job;
    std::vector<Fd> fences;
};

IoResult<Backlog> pile_up(const Options& options) {
    auto job = SmallJob::create(options.node);
    if (!job) {
        return tl::unexpected(job.error());
    }
    std::vector<Fd> fences;
    for (unsigned i = 0; i < options.count; ++i) {
        const auto fence = job->submit();
        if (!fence) {
            return tl::unexpected(fence.error());
        }
        auto sync_file = export_sync_file(job->device(), *fence);
        if (!sync_file) {
            return tl::unexpected(sync_file.error());
        }
        fences.push_back(std::move(*sync_file));
    }
    return Backlog{std::move(*job), std::move(fences)};
}

/// Has every fence signalled when the patience ends? Says how many have, and the last one's status.
IoResult<bool> all_ended(Reporter& report, const Backlog& backlog,
                         std::chrono::milliseconds patience) {
    const auto until = std::chrono::steady_clock::now() + patience;
    unsigned signalled = 0;
    for (const Fd& fence : backlog.fences) {
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
        io_call(backlog.fences.back().get(), SYNC_IOC_FILE_INFO, &info, "SYNC_IOC_FILE_INFO");
    if (!asked) {
        return tl::unexpected(asked.error());
    }
    report.say(
        "fences",
        {{"signalled", signalled}, {"of", backlog.fences.size()}, {"status_of_last", info.status}});
    return signalled == backlog.fences.size();
}

int run_client(const Options& options) {
    Reporter report(self);
    const auto backlog = pile_up(options);
    if (!backlog) {
        return report.end("device", backlog.error());
    }
    report.ready({{"submissions", options.count}});
    LineInput input;
    if (!input.next()) {
        return report.end("signal");
    }
    const auto ended = all_ended(report, *backlog, std::chrono::milliseconds(options.patience_ms));
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
    CLI::App& app = program.app();
    hp::clients::Options options;
    program.add_node(options.node);
    app.add_option("--count", options.count, "submissions")
        ->type_name("SUBMISSIONS")
        ->check(CLI::Range(1, 1024));
    app.add_option("--patience-ms", options.patience_ms, "how long a fence may take when asked")
        ->type_name("ms");
    if (const auto status = program.parse(argc, argv)) {
        return *status;
    }
    hp::clients::handle_signals();
    return hp::clients::run_client(options);
}
