// SPDX-License-Identifier: GPL-2.0
// Purpose: names of the scenario model.
// Thread: pure functions.
#include "hotplug/scenario/scenario.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hotplug {

std::string_view to_string(Role role) {
    return role == Role::victim ? "victim" : "bystander";
}

std::string Script::line() const {
    return arguments.empty() ? name : fmt::format("{} {}", name, fmt::join(arguments, " "));
}

std::vector<std::string> Script::options() const {
    std::vector<std::string> options = {"-c", text, name};
    options.insert(options.end(), arguments.begin(), arguments.end());
    return options;
}

std::vector<std::string> ShellStep::argv() const {
    std::vector<std::string> argv = {"sh"};
    const std::vector<std::string> options =
        script ? script->options() : std::vector<std::string>{"-c", command};
    argv.insert(argv.end(), options.begin(), options.end());
    return argv;
}

std::string StartStep::name() const {
    return fmt::format("{}@{}", program, to_string(on));
}

Limits Limits::doubled() const {
    Limits more = *this;
    for (auto* time : {&more.removal, &more.clients, &more.replug, &more.stall, &more.watch}) {
        *time *= 2;
    }
    return more;
}

}  // namespace hotplug
