// SPDX-License-Identifier: GPL-2.0
// Purpose: `hpctl replay`: runs the row of a failure bundle again, as it was run.
// Thread: one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "hotplug/cli/commands.h"
#include "hotplug/run/bundle.h"

namespace hotplug {

hp::Result<CommandStatus> replay_command(const ReplayOptions& options) {
    auto replay = read_replay(options.bundle);
    if (!replay) {
        return tl::unexpected(replay.error());
    }
    RunOptions run;
    CLI::App parser;
    CLI::App* command = parser.add_subcommand("run");
    run.add_to(*command);
    // CLI11 takes a vector from its end.
    std::vector<std::string> arguments(replay->command.rbegin(), replay->command.rend());
    try {
        parser.parse(arguments);
    } catch (const CLI::ParseError& error) {
        return hp::fail(
            fmt::format("{}: its command is not of this hpctl: {}", options.bundle, error.what()));
    }
    run.rows = {replay->row};
    run.repeat = 1;
    run.seed = replay->seed;
    run.results = options.results;
    fmt::print("hpctl run {} {}\n", replay->row, fmt::join(run.arguments(), " "));
    return run_command(std::move(run));
}

}  // namespace hotplug
