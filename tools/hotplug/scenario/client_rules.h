// SPDX-License-Identifier: GPL-2.0
// Purpose: what the steps of a scenario may ask of the guest's clients: what the clients describe.
// Thread: pure functions.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "hotplug/scenario/scenario.h"

namespace hotplug {

/// The first step that starts what is neither a client of ours, nor `sh`, nor one of `programs`,
/// that gives a client an option it has not, or that waits for a state it never reports; and what
/// is wrong with it. Steps come in the order in which they run.
std::optional<std::string> find_client_mistake(std::span<const Step> steps,
                                               std::span<const std::string> programs);

}  // namespace hotplug
