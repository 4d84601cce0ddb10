// SPDX-License-Identifier: GPL-2.0
// Purpose: `hpctl schema`: the JSON Schema of scenario files, for editors.
// Thread: one.
#include <fmt/format.h>

#include "hotplug/cli/commands.h"
#include "hotplug/scenario/parser.h"

namespace hotplug {

hp::Result<CommandStatus> schema_command() {
    fmt::print("{}\n", scenario_schema().dump(2));
    return exit_pass;
}

}  // namespace hotplug
