// SPDX-License-Identifier: GPL-2.0
// Purpose: whether a row hangs, and what in the guest is blocked, as the guest itself tells it.
// Thread: one at a time.
#pragma once

#include <string>
#include <vector>

#include "hotplug/run/row_state.h"

namespace hotplug {

/// A task of the guest in state D.
struct BlockedTask {
    std::string name;                ///< "sh (104)"
    std::vector<std::string> stack;  ///< innermost first, as /proc/PID/stack has it
};

/// Fails when the guest does not answer.
hp::Result<std::vector<BlockedTask>> blocked_tasks(Testbed& bed);

/// Why the row counts as hung, before its clients are ended; empty: it does not. What has not
/// returned in time, whom the kernel calls hung, a guest that does not answer; and where something
/// `failed`, tasks that stay in state D.
std::string find_hang(const RowState& state, bool failed);

}  // namespace hotplug
