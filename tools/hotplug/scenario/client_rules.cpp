// SPDX-License-Identifier: GPL-2.0
// Purpose: see client_rules.h.
// Thread: pure functions.
#include "hotplug/scenario/client_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <variant>

#include "hotplug/guest/client_table.h"
#include "lib/nearest.h"

namespace hotplug {

namespace {

constexpr std::string_view shell = "sh";

std::string hint(std::string_view word, std::span<const std::string> names) {
    const std::string meant = hp::nearest(word, names);
    return meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant);
}

std::optional<std::string> mistake_of(const StartStep& start, const ClientDescription* client,
                                      std::span<const std::string> programs) {
    if (client == nullptr) {
        const bool named =
            std::find(programs.begin(), programs.end(), start.program) != programs.end();
        if (named || start.program == shell) {
            return {};
        }
        return fmt::format("'{}' is no client of ours, nor named in /requires/programs{}",
                           start.program, hint(start.program, client_names()));
    }
    for (const std::string& option : start.options) {
        if (!client->takes(option)) {
            return fmt::format("{} has no option '{}'{}", client->name, option,
                               hint(option, client->arguments));
        }
    }
    return {};
}

}  // namespace

std::optional<std::string> find_client_mistake(std::span<const Step> steps,
                                               std::span<const std::string> programs) {
    std::map<std::string, const ClientDescription*> started;
    for (const Step& step : steps) {
        std::optional<std::string> mistake;
        if (const auto* start = std::get_if<StartStep>(&step)) {
            const ClientDescription* client = find_client(start->program);
            started[start->name()] = client;
            mistake = mistake_of(*start, client, programs);
        } else if (const auto* tell = std::get_if<TellStep>(&step); tell && !tell->answer.empty()) {
            const auto found = started.find(tell->client);
            const ClientDescription* client = found == started.end() ? nullptr : found->second;
            if (client != nullptr && !client->reports(tell->answer)) {
                mistake = fmt::format("{} reports no state '{}'{}", client->name, tell->answer,
                                      hint(tell->answer, client->states));
            }
        }
        if (mistake) {
            return fmt::format("step '{}': {}", describe(step), *mistake);
        }
    }
    return {};
}

}  // namespace hotplug
