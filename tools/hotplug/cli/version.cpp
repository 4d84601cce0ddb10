// SPDX-License-Identifier: GPL-2.0
// Purpose: see version.h.
// Thread: pure functions.
#include "hotplug/cli/version.h"

#include <fmt/format.h>

#include "hp_version.h"  // made in the build folder by scripts/version

namespace hotplug {

std::string commit_text() {
    return HP_COMMIT;
}

std::string version_text() {
    return fmt::format("hpctl {}\nkernel series: {}", HP_COMMIT, HP_SERIES);
}

}  // namespace hotplug
