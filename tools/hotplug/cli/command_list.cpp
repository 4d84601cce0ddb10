// SPDX-License-Identifier: GPL-2.0
// Purpose: `hpctl list`: rows, tags and what the scenarios do.
// Thread: one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hotplug/cli/commands.h"
#include "hotplug/scenario/catalogue.h"

namespace hotplug {

hp::Result<CommandStatus> list_command(const ListOptions& options) {
    const auto catalogue = ScenarioCatalogue::load(scenario_folder(options.scenarios));
    if (!catalogue) {
        return tl::unexpected(catalogue.error());
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
    for (const Row& row : *rows) {
        fmt::print("{:<32} {:<24} {}\n", row.expected_key(),
                   fmt::format("{}", fmt::join(row.tags(), ",")), row.scenario->description);
    }
    return kExitPass;
}

}  // namespace hotplug
