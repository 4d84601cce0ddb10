// SPDX-License-Identifier: GPL-2.0
// Purpose: see submission_cost.h.
// Thread: pure functions.
#include "hotplug/bench/submission_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "hotplug/bench/median.h"

namespace hotplug {

hp::Result<std::vector<double>> read_costs(std::string_view client_output) {
    std::vector<double> medians;
    std::string last = "(it printed nothing)";
    bool ended_well = false;
    std::istringstream lines{std::string(client_output)};
    for (std::string line; std::getline(lines, line); last = line) {
        const auto said = nlohmann::json::parse(line, nullptr, false);
        if (!said.is_object()) {
            continue;
        }
        const std::string state = said.value("state", "");
        if (state == "result") {
            medians.push_back(said.at("median_ns").get<double>());
        }
        ended_well = state == "end" && said.value("reason", "") == "done";
    }
    if (!ended_well || medians.empty()) {
        return hp::fail(fmt::format("submission_cost did not end well, its last line: {}", last));
    }
    return medians;
}

double cost_of_boot(const std::vector<double>& rounds) {
    return *std::min_element(rounds.begin(), rounds.end());
}

double CostOfKernel::median() const {
    return median_of(boots);
}

double CostOfKernel::spread() const {
    const auto [least, most] = std::minmax_element(boots.begin(), boots.end());
    return (*most - *least) / median();
}

CostRatio compare_costs(const CostOfKernel& kernel, const CostOfKernel& against) {
    CostRatio ratio;
    ratio.median = against.median() / kernel.median();
    for (size_t i = 0; i < std::min(kernel.boots.size(), against.boots.size()); ++i) {
        const double pair = against.boots[i] / kernel.boots[i];
        ratio.least = i == 0 ? pair : std::min(ratio.least, pair);
        ratio.most = i == 0 ? pair : std::max(ratio.most, pair);
    }
    return ratio;
}

}  // namespace hotplug
