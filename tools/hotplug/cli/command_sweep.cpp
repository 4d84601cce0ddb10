// SPDX-License-Identifier: GPL-2.0
// Purpose: `hpctl sweep`: takes the GPU away at one access after the other of each phase of the
// driver's work, and adds up results of several sweeps.
// Thread: one.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <set>

#include "hotplug/cli/commands.h"
#include "hotplug/report/table.h"
#include "hotplug/run/machine_testbed.h"
#include "hotplug/run/progress.h"
#include "hotplug/run/runner.h"
#include "hotplug/sweep/kernel_identity.h"
#include "hotplug/sweep/sweep_journal.h"
#include "hotplug/sweep/sweep_report.h"
#include "hotplug/sweep/sweep_rows.h"

namespace hotplug {

namespace {

namespace fs = std::filesystem;

constexpr const char* journal_name = "sweep.jsonl";

/// The rows of the phases that were asked for; all when none was.
hp::Result<std::vector<Row>> select_phases(const ScenarioCatalogue& catalogue,
                                           const std::vector<std::string>& wanted) {
    auto all = catalogue.select(std::vector<std::string>{"sweep"}, std::nullopt);
    if (!all || wanted.empty()) {
        return all;
    }
    std::vector<std::string> names;
    for (const Row& row : *all) {
        names.push_back(phase_name(row));
    }
    std::vector<Row> rows;
    for (const std::string& name : wanted) {
        const auto found = std::find(names.begin(), names.end(), name);
        if (found == names.end()) {
            return hp::fail(
                fmt::format("no phase '{}', there are: {}", name, fmt::join(names, ", ")));
        }
        rows.push_back((*all)[static_cast<size_t>(found - names.begin())]);
    }
    return rows;
}

hp::Result<void> write_lines(const fs::path& file, const std::vector<std::string>& lines) {
    std::ofstream out(file);
    for (const std::string& line : lines) {
        out << line << '\n';
    }
    if (!out.flush()) {
        return hp::fail(fmt::format("{}: cannot write", file.string()));
    }
    return {};
}

/// Prints what is known, writes it into `results`.
hp::Result<CommandStatus> conclude(const SweepJournal& journal, const fs::path& results) {
    const std::string text = format_sweep(journal);
    const auto replays = replay_commands(journal);
    if (auto written = write_lines(results / "sweep.txt", {text}); !written) {
        return tl::unexpected(written.error());
    }
    if (auto written = write_lines(results / "replay.txt", replays); !written) {
        return tl::unexpected(written.error());
    }
    fmt::print("\n{}", text);
    if (!replays.empty()) {
        fmt::print("\nOne command for each failing point: {}\n", (results / "replay.txt").string());
    }
    std::fflush(stdout);
    return replays.empty() ? exit_pass : exit_fail;
}

hp::Result<CommandStatus> merge(const SweepOptions& options, const fs::path& results) {
    std::vector<fs::path> files;
    for (const std::string& named : options.merge) {
        const fs::path path = fs::absolute(named);
        files.push_back(fs::is_directory(path) ? path / journal_name : path);
    }
    const auto journal = SweepJournal::merge(files);
    if (!journal) {
        return tl::unexpected(journal.error());
    }
    return conclude(*journal, results);
}

/// What makes another call one of the same sweep.
std::vector<std::string> replay_arguments(const SweepOptions& options) {
    std::vector<std::string> arguments = options.machine.arguments();
    if (!options.scenarios.empty()) {
        arguments.insert(arguments.end(),
                         {"--scenarios", fs::absolute(options.scenarios).string()});
    }
    arguments.insert(arguments.end(), {"--seed", std::to_string(options.seed)});
    if (options.all) {
        arguments.push_back("--all");
    } else {
        arguments.insert(arguments.end(), {"--points", std::to_string(options.points)});
    }
    return arguments;
}

hp::Result<SweepIdentity> identity_of(const SweepOptions& options, const MachineConfig& machine) {
    return kernel_identity(machine.kernel, options.machine.kernel, machine.initrd)
        .map([&](std::string kernel) {
            return SweepIdentity{.kernel = std::move(kernel),
                                 .profile = options.machine.profile,
                                 .cpus = options.machine.cpus,
                                 .seed = options.seed,
                                 .points = options.all ? 0 : options.points};
        });
}

}  // namespace

hp::Result<CommandStatus> sweep_command(const SweepOptions& options) {
    const fs::path results = fs::absolute(options.results);
    std::error_code error;
    fs::create_directories(results, error);
    if (error) {
        return hp::fail(fmt::format("{}: cannot make the results folder: {}", results.string(),
                                    error.message()));
    }
    if (!options.merge.empty()) {
        return merge(options, results);
    }
    if (options.machine.kernel.empty()) {
        return hp::fail("--kernel is required, or --merge");
    }
    const auto shard = parse_shard(options.shard);
    const auto catalogue = scenario_folder(options.scenarios).and_then(ScenarioCatalogue::load);
    if (!shard || !catalogue) {
        return tl::unexpected(shard ? catalogue.error() : shard.error());
    }
    auto phases = select_phases(*catalogue, options.phases);
    auto machine = options.machine.machine_config();
    if (!phases || !machine) {
        return tl::unexpected(phases ? machine.error() : phases.error());
    }
    if (options.at.empty()) {
        // Some 8,000 accesses a point: a trace of them all would fill the disk. A replay has one.
        for (SlotConfig& slot : machine->slots) {
            slot.gpu.trace = false;
        }
    }
    const std::vector<std::string> command = replay_arguments(options);
    const auto identity = identity_of(options, *machine);
    if (!identity) {
        return tl::unexpected(identity.error());
    }
    auto journal = SweepJournal::open(results / journal_name, *identity, command);
    if (!journal) {
        return tl::unexpected(journal.error());
    }

    SweepPlan plan = {.phases = std::move(*phases), .shard = *shard, .accesses = options.at};
    if (options.minutes != 0) {
        plan.until = Deadline::after(std::chrono::minutes(options.minutes));
    }
    SweepRows rows(std::move(plan), *journal);
    MachineFactory factory(std::move(*machine));
    RunReport report;
    {
        TextProgress progress(stdout, ::isatty(STDOUT_FILENO) != 0);
        std::set<std::string> seen;
        const auto is_new = [&](const RowResult& row) {
            bool found = false;
            for (const Finding& finding : findings_of(row)) {
                found = seen.insert(finding.key()).second || found;
            }
            return found;
        };
        const auto none_known = [](const GuestFacts&) {
            return hp::Result<ExpectedFailures>(ExpectedFailures());
        };
        // A folder of its own for each time that the sweep goes on.
        const std::string run =
            fmt::format("run-{:%Y%m%dT%H%M%SZ}", fmt::gmtime(std::time(nullptr)));
        Runner runner(factory, progress, {results / run, none_known, is_new});
        RunInfo info;
        info.command = command;
        info.seed = options.seed;
        report = runner.run(rows, std::move(info));
    }
    if (report.info.interrupted) {
        return exit_interrupted;
    }
    const auto status = conclude(*journal, results);
    fmt::print("{}", format_integrity(report.integrity));
    std::fflush(stdout);
    if (verdict_of(report) == RunVerdict::error) {
        return hp::fail(first_error(report.integrity));
    }
    if (!status || report.integrity.sound()) {
        return status;
    }
    return exit_fail;
}

}  // namespace hotplug
