// SPDX-License-Identifier: GPL-2.0
// Purpose: `hpctl bench`: options to a bench and its outcome to an exit status.
// Thread: one.
#include "hotplug/bench/removal_bench.h"
#include "hotplug/bench/usual_bench.h"
#include "hotplug/cli/commands.h"

namespace hotplug {

namespace {

namespace fs = std::filesystem;

CommandStatus to_status(bool good) {
    return good ? exit_pass : exit_fail;
}

hp::Result<CommandStatus> submission(const BenchOptions& options, MachineConfig config,
                                     const fs::path& results) {
    SubmissionBench bench = options.submission;
    bench.kernels.push_back({options.machine.kernel, std::move(config)});
    if (!options.against.empty()) {
        MachineOptions other = options.machine;
        other.kernel = options.against;
        auto against = other.machine_config();
        if (!against) {
            return tl::unexpected(against.error());
        }
        bench.kernels.push_back({other.kernel, std::move(*against)});
    }
    return run_submission_bench(bench, results).map(to_status);
}

}  // namespace

hp::Result<CommandStatus> bench_command(const BenchOptions& options) {
    auto config = options.machine.machine_config();
    if (!config) {
        return tl::unexpected(config.error());
    }
    const fs::path results = fs::absolute(options.results);
    if (options.what == "submission") {
        return submission(options, std::move(*config), results);
    }
    if (options.what == "scale") {
        return run_scale_bench(*config, options.scale, results).map(to_status);
    }
    const auto done = options.what == "removal" ? run_removal_bench(std::move(*config), results)
                                                : run_usual_bench(*config, results);
    return done.map([] { return exit_pass; });
}

}  // namespace hotplug
