// SPDX-License-Identifier: GPL-2.0
// Purpose: `hpctl list`: rows, tags and what the scenarios do.
// Thread: one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <set>

#include "hotplug/cli/commands.h"
#include "hotplug/scenario/catalogue.h"

namespace hotplug {

namespace {

nlohmann::ordered_json to_json(const Row& row) {
    const Scenario& scenario = *row.scenario;
    const Requirements& needed = scenario.requires_;
    nlohmann::ordered_json checks = nlohmann::ordered_json::array();
    for (const Check check : scenario.checks) {
        checks.push_back(std::string(to_string(check)));
    }
    return {{"row", row.expected_key()},
            {"scenario", scenario.id},
            {"tags", row.tags()},
            {"description", scenario.description},
            {"reports", scenario.reports},
            {"file", scenario.file},
            {"cycles", scenario.cycles},
            {"fresh_boot", scenario.fresh_boot},
            {"requires",
             {{"gpus", needed.gpus},
              {"kernel_options", needed.kernel_options},
              {"programs", needed.programs},
              {"profiles", needed.profiles},
              {"switch", needed.behind_switch}}},
            {"checks", checks}};
}

/// What it does, and whose reports it follows.
std::vector<std::string> what_it_is(const Scenario& scenario) {
    std::vector<std::string> words = {scenario.description};
    words.insert(words.end(), scenario.reports.begin(), scenario.reports.end());
    return words;
}

}  // namespace

hp::Result<CommandStatus> list_command(const ListOptions& options) {
    const auto catalogue = scenario_folder(options.scenarios).and_then(ScenarioCatalogue::load);
    if (!catalogue) {
        return tl::unexpected(catalogue.error());
    }
    if (options.words) {
        const auto words = catalogue->words();
        for (const std::string& word : std::set<std::string>(words.begin(), words.end())) {
            fmt::print("{}\n", word);
        }
        return exit_pass;
    }
    std::vector<std::string> wanted = options.tags;
    if (wanted.empty()) {
        for (const Scenario& scenario : catalogue->scenarios()) {
            wanted.push_back(scenario.id);
        }
    }
    const auto rows = catalogue->select(wanted, 1);
    if (!rows) {
        return tl::unexpected(rows.error());
    }
    if (options.json) {
        nlohmann::ordered_json list = nlohmann::ordered_json::array();
        for (const Row& row : *rows) {
            list.push_back(to_json(row));
        }
        fmt::print("{}\n", list.dump(2));
        return exit_pass;
    }
    for (const Row& row : *rows) {
        fmt::print("{:<32} {:<24} {}\n", row.expected_key(),
                   fmt::format("{}", fmt::join(row.tags(), ",")),
                   fmt::join(what_it_is(*row.scenario), " "));
    }
    return exit_pass;
}

}  // namespace hotplug
