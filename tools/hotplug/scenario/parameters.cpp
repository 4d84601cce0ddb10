// SPDX-License-Identifier: GPL-2.0
// Purpose: see parameters.h.
// Thread: pure functions.
#include "hotplug/scenario/parameters.h"

#include <algorithm>

namespace hotplug {

namespace {

constexpr std::string_view name_characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

/// Replaces "$NAME" where no other character of a name follows; was there any?
bool replace(std::string& text, const std::string& name, const std::string& value) {
    const std::string reference = "$" + name;
    bool found = false;
    for (size_t at = text.find(reference); at != std::string::npos;) {
        const size_t end = at + reference.size();
        if (end < text.size() && name_characters.find(text[end]) != std::string_view::npos) {
            at = text.find(reference, end);
            continue;
        }
        text.replace(at, reference.size(), value);
        at = text.find(reference, at + value.size());
        found = true;
    }
    return found;
}

/// Calls `visit` with each text of a step that the guest is given.
template <typename S, typename Visit>
void each_text(S& step, const Visit& visit) {
    if constexpr (requires { step.options; }) {
        std::for_each(step.options.begin(), step.options.end(), visit);
    }
    if constexpr (requires { step.script; }) {
        if (step.script) {
            std::for_each(step.script->arguments.begin(), step.script->arguments.end(), visit);
        }
    }
    if constexpr (requires { step.command; }) {
        visit(step.command);
        visit(step.output);
    }
    if constexpr (requires { step.meanwhile; }) {
        visit(step.meanwhile);
        visit(step.during);
    }
    if constexpr (requires { step.line; }) {
        visit(step.line);
    }
    if constexpr (requires { step.text; }) {
        visit(step.text);
    }
}

bool fill_in(std::vector<Step>& steps, const std::string& name, const std::string& value) {
    bool found = false;
    for (Step& each : steps) {
        std::visit(
            [&](auto& step) {
                each_text(step, [&](std::string& text) { found |= replace(text, name, value); });
            },
            each);
    }
    return found;
}

std::vector<Step> unfilled(const Scenario& scenario, const Variant* variant) {
    std::vector<Step> steps = scenario.setup;
    if (variant != nullptr) {
        steps.insert(steps.end(), variant->steps.begin(), variant->steps.end());
    }
    steps.insert(steps.end(), scenario.steps.begin(), scenario.steps.end());
    return steps;
}

}  // namespace

bool is_parameter_name(std::string_view name) {
    constexpr std::string_view of_the_runner[] = {"VICTIM", "VICTIM_NODE", "VICTIM_ID", "BYSTANDER",
                                                  "BYSTANDER_NODE"};
    return !name.empty() && name.find_first_not_of(name_characters) == std::string_view::npos &&
           name[0] >= 'A' && name[0] <= 'Z' &&
           std::find(std::begin(of_the_runner), std::end(of_the_runner), name) ==
               std::end(of_the_runner);
}

std::vector<Step> steps_of(const Scenario& scenario, const Variant* variant) {
    std::vector<Step> steps = unfilled(scenario, variant);
    if (variant != nullptr) {
        for (const auto& [name, value] : variant->with) {
            fill_in(steps, name, value);
        }
    }
    return steps;
}

std::vector<std::string> unused_parameters(const Scenario& scenario, const Variant& variant) {
    std::vector<Step> steps = unfilled(scenario, &variant);
    std::vector<std::string> unused;
    for (const auto& [name, value] : variant.with) {
        if (!fill_in(steps, name, value)) {
            unused.push_back(name);
        }
    }
    return unused;
}

}  // namespace hotplug
