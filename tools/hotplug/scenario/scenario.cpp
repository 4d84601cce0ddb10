// SPDX-License-Identifier: GPL-2.0
// Purpose: names of the scenario model.
// Thread: pure functions.
#include "hotplug/scenario/scenario.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hotplug {

namespace {

struct Describe {
    std::string operator()(const StartStep& step) const { return "start " + step.name(); }
    std::string operator()(const TellStep& step) const {
        return fmt::format("tell {} '{}'", step.client, step.line);
    }
    std::string operator()(const StopStep& step) const { return "stop " + step.client; }
    std::string operator()(const AwaitStep& step) const {
        return "await the end of " + step.client;
    }
    std::string operator()(const LoseStep& step) const {
        if (!step.during.empty()) {
            return fmt::format("lose {} of '{}'", to_string(step.loss), step.during);
        }
        return step.drawn_from.empty() ? fmt::format("lose {}", to_string(step.loss))
                                       : fmt::format("lose one of {} ways", step.drawn_from.size());
    }
    std::string operator()(const EmulateStep& step) const {
        return fmt::format("emulate {} on {}", step.request.dump(), to_string(step.on));
    }
    std::string operator()(const AskStep& step) const {
        return fmt::format("ask {} of {}", step.request.dump(), to_string(step.on));
    }
    std::string operator()(const RecoverStep&) const { return "recover"; }
    std::string operator()(const ShellStep& step) const { return "shell " + step.command; }
    std::string operator()(const WaitStep& step) const { return "wait for " + step.text; }
    std::string operator()(const ExpectStep& step) const {
        std::vector<std::string_view> names;
        for (const Check check : step.checks) {
            names.push_back(to_string(check));
        }
        return fmt::format("expect {}", fmt::join(names, ", "));
    }
    std::string operator()(const SettleStep& step) const {
        return fmt::format("settle {} ms", step.time.count());
    }
};

}  // namespace

std::string_view to_string(Role role) {
    return role == Role::victim ? "victim" : "bystander";
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

std::string describe(const Step& step) {
    return std::visit(Describe{}, step);
}

}  // namespace hotplug
