// SPDX-License-Identifier: GPL-2.0
// Purpose: a run as KCIDB takes it, the database of kernel test results (schema 5.3 of kcidb-io):
// what was tested as a checkout and a build, and a test for each row, check and subtest. Thread:
// pure functions. Not modelled: issues and incidents, which are triage of others.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "hotplug/judge/verdict.h"

namespace hotplug {

/// What a report does not know of itself.
struct KcidbSource {
    std::string origin;  ///< of who submits; see is_kcidb_origin()
    std::string run;     ///< no other run of this origin has it
    /// A build that was submitted before, with its checkout: is_kcidb_id(). Empty: both are
    /// described here.
    std::string build;
    std::string kernel;  ///< the same for each run of the same kernel, and for no other
    /// What is known of the kernel's source: members of a checkout other than id and origin.
    nlohmann::ordered_json checkout = nlohmann::ordered_json::object();
};

/// Small letters, digits and '_'.
bool is_kcidb_origin(std::string_view text);
/// ORIGIN:ID
bool is_kcidb_id(std::string_view text);

/// "amdgpu_hotplug.surprise.busy" of "surprise/busy": slashes and dots part it, what may not stand
/// in a path becomes '_'.
std::string kcidb_path(std::string_view name);

/// A failure is FAIL there whether it is known, in quarantine or new; `misc` says which. A row that
/// had no turn is MISS.
std::string format_kcidb(const RunReport& report, const KcidbSource& source);

}  // namespace hotplug
