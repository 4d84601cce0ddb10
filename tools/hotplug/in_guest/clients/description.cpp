// SPDX-License-Identifier: GPL-2.0
// Purpose: see description.h.
// Thread: pure functions.
#include "hotplug/in_guest/clients/description.h"

#include <algorithm>

namespace hp::clients {

bool reports(const Description& description, std::string_view state) {
    const auto named = [&](const State& one) { return one.name == state; };
    return std::any_of(common_states.begin(), common_states.end(), named) ||
           std::any_of(description.states.begin(), description.states.end(), named);
}

}  // namespace hp::clients
