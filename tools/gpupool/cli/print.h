// SPDX-License-Identifier: GPL-2.0
// Purpose: what gpupool shows to people. Thread: pure functions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace gpupool {

/// The answer to `status`, as zpool would say it.
std::string status_text(const nlohmann::json& answer);
/// One line.
std::string event_text(const nlohmann::json& event);
std::string plan_text(const nlohmann::json& answer);

}  // namespace gpupool
