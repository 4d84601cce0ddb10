// SPDX-License-Identifier: GPL-2.0
// Purpose: the table of verbs: what a step of a scenario may be, how it is read from a file and
// told in a progress line, and its JSON Schema. One more verb is a struct in scenario.h, a row
// here, and RowRun::perform() of it (run/). Thread: constants and pure functions.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hotplug/scenario/object.h"
#include "hotplug/scenario/scenario.h"

namespace hotplug {

struct Verb {
    std::string name;
    std::string meaning;
    nlohmann::ordered_json schema;
    std::function<Step(const Node&)> read;
    std::function<std::string(const Step&)> describe;
};

/// In the order of Step's alternatives.
const std::vector<Verb>& verbs();

Kind<Step> step_kind();
Kind<Check> check_kind();

}  // namespace hotplug
