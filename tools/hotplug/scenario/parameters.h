// SPDX-License-Identifier: GPL-2.0
// Purpose: the parameters of a variant: words that stand for a text in the scenario's steps, so
// that variants which differ in a word are not copies of each other. Thread: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hotplug/scenario/scenario.h"

namespace hotplug {

/// A capital, then capitals, digits and underscores; and none of the names that the runner fills in
/// (see ShellStep).
bool is_parameter_name(std::string_view name);

/// The steps of a row: the setup, the variant's, then the scenario's, with "$NAME" replaced by the
/// variant's value wherever the guest is given a text: command lines, options, lines, scripts'
/// arguments, what is waited for. `variant` may be null.
std::vector<Step> steps_of(const Scenario& scenario, const Variant* variant);

/// The variant's parameters that no text of its row has.
std::vector<std::string> unused_parameters(const Scenario& scenario, const Variant& variant);

}  // namespace hotplug
