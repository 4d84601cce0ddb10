// SPDX-License-Identifier: GPL-2.0
// Purpose: see rules.h.
// Thread: see rules.h.
#include "hotplug/scenario/rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "hotplug/scenario/client_rules.h"
#include "hotplug/scenario/node.h"
#include "hotplug/scenario/parameters.h"

namespace hotplug {

namespace {

/// What each step needs from those before it: a client before it is told something, a loss before a
/// recovery, a number before it has to be more. No two of them reach the same.
void check_order(const std::vector<Step>& steps, const std::string& where) {
    std::vector<std::string> clients;
    std::vector<Role> asked;
    std::vector<std::string> reached;
    bool lost = false;
    for (const Step& step : steps) {
        const auto refuse = [&](const std::string& why) {
            throw Refusal(fmt::format("{}: step '{}' {}", where, describe(step), why));
        };
        const auto need_client = [&](const std::string& name) {
            if (std::find(clients.begin(), clients.end(), name) == clients.end()) {
                refuse(fmt::format("names a client that no step before it starts; started: {}",
                                   fmt::join(clients, ", ")));
            }
        };
        if (const auto* start = std::get_if<StartStep>(&step)) {
            if (std::find(clients.begin(), clients.end(), start->name()) != clients.end()) {
                refuse("starts a client a second time");
            }
            clients.push_back(start->name());
        } else if (const auto* tell = std::get_if<TellStep>(&step)) {
            need_client(tell->client);
        } else if (const auto* stop = std::get_if<StopStep>(&step)) {
            need_client(stop->client);
            std::erase(clients, stop->client);
        } else if (const auto* await = std::get_if<AwaitStep>(&step)) {
            need_client(await->client);
            std::erase(clients, await->client);
        } else if (const auto* ask = std::get_if<AskStep>(&step)) {
            const bool known = std::find(asked.begin(), asked.end(), ask->on) != asked.end();
            if (!ask->more.empty() && !known) {
                refuse("says 'more', and no step before it asks that GPU");
            }
            asked.push_back(ask->on);
        } else if (const auto* shell = std::get_if<ShellStep>(&step)) {
            if (std::find(reached.begin(), reached.end(), shell->reaches) != reached.end()) {
                refuse(fmt::format("reaches '{}' a second time", shell->reaches));
            }
            if (!shell->reaches.empty()) {
                reached.push_back(shell->reaches);
            }
        } else if (std::holds_alternative<LoseStep>(step)) {
            if (lost) {
                refuse("loses a GPU that is lost already");
            }
            lost = true;
        } else if (std::holds_alternative<RecoverStep>(step)) {
            if (!lost) {
                refuse("has no loss before it");
            }
            lost = false;
        }
    }
}

void check_clients(const Scenario& scenario, const std::vector<Step>& steps,
                   const std::string& where) {
    if (const auto mistake = find_client_mistake(steps, scenario.requires_.programs)) {
        throw Refusal(fmt::format("{}: {}", where, *mistake));
    }
}

/// A trial does all by itself, on guests that nobody else has.
void check_pool(const Scenario& scenario) {
    const bool has_steps =
        !scenario.setup.empty() || !scenario.steps.empty() ||
        std::any_of(scenario.variants.begin(), scenario.variants.end(),
                    [](const Variant& variant) { return !variant.steps.empty(); });
    if (scenario.variants.empty()) {
        throw Refusal("/pool_s: a trial is named by a variant: there is none");
    }
    if (has_steps || !scenario.checks.empty() || scenario.cycles != 0) {
        throw Refusal("/pool_s: a trial of the pool has neither steps nor checks nor cycles");
    }
}

}  // namespace

void check_scenario(const Scenario& scenario) {
    if (scenario.pool) {
        check_pool(scenario);
    }
    if (scenario.variants.empty()) {
        check_order(scenario.steps, "/steps");
        check_clients(scenario, scenario.steps, "/steps");
    }
    for (const Variant& variant : scenario.variants) {
        for (const std::string& name : unused_parameters(scenario, variant)) {
            throw Refusal(fmt::format("/variants/{}/with/{}: no step of the row has ${}",
                                      variant.name, name, name));
        }
        const std::vector<Step> steps = steps_of(scenario, &variant);
        check_order(steps, "/variants/" + variant.name);
        check_clients(scenario, steps, "/variants/" + variant.name);
    }
    const auto draws = [](const Step& step) {
        const auto* lose = std::get_if<LoseStep>(&step);
        return lose != nullptr && !lose->drawn_from.empty();
    };
    bool drawn = std::any_of(scenario.steps.begin(), scenario.steps.end(), draws) ||
                 std::any_of(scenario.setup.begin(), scenario.setup.end(), draws);
    for (const Variant& variant : scenario.variants) {
        drawn = drawn || std::any_of(variant.steps.begin(), variant.steps.end(), draws);
    }
    if (drawn && scenario.cycles == 0) {
        throw Refusal(
            "/cycles: a list of losses is gone through from cycle to cycle: say how many");
    }
    if (scenario.alone && scenario.cycles == 0) {
        throw Refusal("/alone: is about cycles: say how many");
    }
    if (scenario.cycles != 0 && scenario.requires_.gpus < 2) {
        throw Refusal("/cycles: victims alternate, so two GPUs are needed");
    }
}

}  // namespace hotplug
