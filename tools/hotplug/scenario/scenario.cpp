// SPDX-License-Identifier: GPL-2.0
// Purpose: names of the scenario model.
// Thread: pure functions.
#include "hotplug/scenario/scenario.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace hotplug {

namespace {

struct NamedCheck {
    Check check;
    std::string_view name;
};

constexpr std::array<NamedCheck, 9> kChecks = {{
    {Check::removed, "removed"},
    {Check::clients_released, "clients_released"},
    {Check::no_access, "no_access"},
    {Check::bystander, "bystander"},
    {Check::kfd_usable, "kfd_usable"},
    {Check::replug, "replug"},
    {Check::steps, "steps"},
    {Check::log_clean, "log_clean"},
    {Check::no_leak, "no_leak"},
}};

constexpr std::array<Check, 9> kOrder = [] {
    std::array<Check, 9> order{};
    for (size_t i = 0; i < kChecks.size(); ++i) {
        order[i] = kChecks[i].check;
    }
    return order;
}();

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

std::span<const Check> all_checks() {
    return kOrder;
}

std::string_view to_string(Check check) {
    return kChecks[static_cast<size_t>(check)].name;
}

std::optional<Check> parse_check(std::string_view name) {
    for (const NamedCheck& known : kChecks) {
        if (known.name == name) {
            return known.check;
        }
    }
    return std::nullopt;
}

bool is_implicit(Check check) {
    return check == Check::steps || check == Check::log_clean || check == Check::no_leak;
}

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
