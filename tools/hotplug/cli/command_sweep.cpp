// SPDX-License-Identifier: GPL-2.0
// Purpose: `hpctl sweep`: takes the GPU away at one access after the other of each phase of the
// driver's work, and adds up results of several sweeps.
// Thread: one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hotplug/cli/campaign.h"
#include "hotplug/cli/commands.h"
#include "hotplug/sweep/sweep_journal.h"
#include "hotplug/sweep/sweep_report.h"
#include "hotplug/sweep/sweep_rows.h"

namespace hotplug {

namespace {

namespace fs = std::filesystem;

constexpr const char* sweep_name = "sweep";

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

CampaignText text_of(const SweepJournal& journal) {
    return {sweep_name, format_sweep(journal), replay_commands(journal)};
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

}  // namespace

hp::Result<CommandStatus> sweep_command(const SweepOptions& options) {
    const auto results = make_results(options.results);
    if (!results) {
        return tl::unexpected(results.error());
    }
    if (!options.merge.empty()) {
        return SweepJournal::merge(journals_of(options.merge, sweep_name))
            .and_then(
                [&](const SweepJournal& merged) { return conclude(text_of(merged), *results); });
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
    const auto identity =
        identity_of(options.machine, *machine, options.seed, options.all ? 0 : options.points);
    if (!identity) {
        return tl::unexpected(identity.error());
    }
    auto journal = SweepJournal::open(journal_of(*results, sweep_name), *identity, command);
    if (!journal) {
        return tl::unexpected(journal.error());
    }

    SweepPlan plan = {.phases = std::move(*phases), .shard = *shard, .accesses = options.at};
    if (options.minutes != 0) {
        plan.until = Deadline::after(std::chrono::minutes(options.minutes));
    }
    SweepRows rows(std::move(plan), *journal);
    RunInfo info;
    info.command = command;
    info.seed = options.seed;
    return run_campaign(std::move(*machine), rows, std::move(info), *results,
                        [&] { return text_of(*journal); });
}

}  // namespace hotplug
