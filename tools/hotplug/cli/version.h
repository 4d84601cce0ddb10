// SPDX-License-Identifier: GPL-2.0
// Purpose: which hpctl this is. Thread: pure functions.
#pragma once

#include <string>

namespace hotplug {

/// The commit that it was built from, as git describes it; "unknown" outside of git.
std::string commit_text();

/// "hpctl COMMIT", and the kernel series of that tree with the key that `scripts/series hash` gives
/// its code.
std::string version_text();

}  // namespace hotplug
