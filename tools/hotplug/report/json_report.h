// SPDX-License-Identifier: GPL-2.0
// Purpose: results.json: everything a run found, for programs. The other reports show parts of it.
// Thread: pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "hotplug/judge/verdict.h"

namespace hotplug {

nlohmann::ordered_json to_json(const RowResult& row);
nlohmann::ordered_json to_json(const RunReport& report);

/// Indented; what the guest printed may be no UTF-8, which is replaced.
std::string dump(const nlohmann::ordered_json& json);

/// Complete turns of loss and replug an hour of the run; 0 when no row was a cycle.
double cycles_per_hour(const RunReport& report);

}  // namespace hotplug
