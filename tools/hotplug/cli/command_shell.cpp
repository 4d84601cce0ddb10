// SPDX-License-Identifier: GPL-2.0
// Purpose: `hpctl shell`: boots the guest and gives its console to the user, or runs one command or
// a script from standard input in it. Thread: one.
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <iterator>

#include "hotplug/cli/commands.h"
#include "hotplug/cli/console.h"
#include "hotplug/machine/machine.h"

namespace hotplug {

namespace {

constexpr auto command_deadline = std::chrono::minutes(10);

hp::Result<CommandStatus> run_in(Machine& machine, const std::string& command) {
    const auto result = machine.agent().run({"sh", "-c", command}, command_deadline);
    if (!result) {
        return tl::unexpected(machine.explain(result.error()));
    }
    fmt::print("{}", result->out);
    fmt::print(stderr, "{}", result->err);
    return result->status == 0 && !result->timed_out ? exit_pass : exit_fail;
}

}  // namespace

hp::Result<CommandStatus> shell_command(const ShellOptions& options) {
    auto config = options.machine.machine_config();
    if (!config) {
        return tl::unexpected(config.error());
    }
    config->log_dir = std::filesystem::absolute(options.results) / "shell";
    const bool console = options.command.empty() && ::isatty(STDIN_FILENO) != 0;
    std::string command = options.command;
    if (!console && command.empty()) {
        command.assign(std::istreambuf_iterator<char>(std::cin), {});
    }
    fmt::print(stderr, "booting the guest\n");
    auto machine = Machine::start(std::move(*config));
    if (!machine) {
        return tl::unexpected(machine.error());
    }
    if (!console) {
        return run_in(**machine, command);
    }
    fmt::print(stderr, "The guest's console; Ctrl-] ends it and the guest.\n");
    return attach_console((*machine)->console_socket()).map([] { return exit_pass; });
}

}  // namespace hotplug
