// SPDX-License-Identifier: GPL-2.0
// Purpose: `hpctl hostile`: has the GPU lie, cycle after cycle, about what its driver was not lied
// to about yet, and adds up results of several calls.
// Thread: one.
#include "hotplug/cli/campaign.h"
#include "hotplug/cli/commands.h"
#include "hotplug/sweep/hostile_journal.h"
#include "hotplug/sweep/hostile_report.h"
#include "hotplug/sweep/hostile_rows.h"

namespace hotplug {

namespace {

namespace fs = std::filesystem;

constexpr const char* hostile_name = "hostile";

CampaignText text_of(const HostileJournal& journal) {
    return {hostile_name, format_hostile(journal), replay_commands(journal)};
}

/// What makes another call one of the same series, and a run of a row the same cycle.
std::vector<std::string> replay_arguments(const HostileOptions& options) {
    std::vector<std::string> arguments = options.machine.arguments();
    if (!options.scenarios.empty()) {
        arguments.insert(arguments.end(),
                         {"--scenarios", fs::absolute(options.scenarios).string()});
    }
    arguments.insert(arguments.end(), {"--seed", std::to_string(options.seed), "--cycles",
                                       std::to_string(options.cycles)});
    return arguments;
}

}  // namespace

hp::Result<CommandStatus> hostile_command(const HostileOptions& options) {
    const auto results = make_results(options.results);
    if (!results) {
        return tl::unexpected(results.error());
    }
    if (!options.merge.empty()) {
        return HostileJournal::merge(journals_of(options.merge, hostile_name))
            .and_then(
                [&](const HostileJournal& merged) { return conclude(text_of(merged), *results); });
    }
    if (options.machine.kernel.empty()) {
        return hp::fail("--kernel is required, or --merge");
    }
    const auto shard = parse_shard(options.shard);
    const auto catalogue = scenario_folder(options.scenarios).and_then(ScenarioCatalogue::load);
    if (!shard || !catalogue) {
        return tl::unexpected(shard ? catalogue.error() : shard.error());
    }
    const std::vector<std::string> every_row = {hostile_name};
    auto rows = catalogue->select(options.rows.empty() ? every_row : options.rows, 1);
    if (!rows) {
        return tl::unexpected(rows.error());
    }
    for (const Row& row : *rows) {
        if (row.scenario->cycles == 0 || surfaces_of(row).empty()) {
            return hp::fail(row.name() + " has no cycles in which a device lies");
        }
    }
    auto machine = options.machine.machine_config();
    if (!machine) {
        return tl::unexpected(machine.error());
    }
    const std::vector<std::string> command = replay_arguments(options);
    auto journal =
        identity_of(options.machine, *machine, options.seed, options.cycles)
            .and_then([&](const JournalIdentity& identity) {
                return HostileJournal::open(journal_of(*results, hostile_name), identity, command);
            });
    if (!journal) {
        return tl::unexpected(journal.error());
    }
    HostilePlan plan = {.rows = std::move(*rows), .shard = *shard};
    if (options.minutes != 0) {
        plan.until = Deadline::after(std::chrono::minutes(options.minutes));
    }
    HostileRows source(std::move(plan), *journal);
    RunInfo info;
    info.command = command;
    info.seed = options.seed;
    return run_campaign(std::move(*machine), source, std::move(info), *results,
                        [&] { return text_of(*journal); });
}

}  // namespace hotplug
