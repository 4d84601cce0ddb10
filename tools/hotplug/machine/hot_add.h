// SPDX-License-Identifier: GPL-2.0
// Purpose: puts a board into a slot of a machine that runs. Thread: one at a time per machine.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hotplug/machine/qmp_client.h"
#include "hotplug/machine/slot_port.h"
#include "lib/result.h"

namespace hotplug {

/// QEMU's end of a vfio-user server.
nlohmann::json vfio_user_device(const std::string& id, const std::string& bus,
                                const std::string& socket);

/// Puts the functions of a board, function 0 last, into the slot of `port`, and nobody presses the
/// button: the guest sees presence and link only. Its reaction is not waited for; its CPUs are
/// stopped for a moment. `plugged` becomes true once the board is in, whatever fails after that.
hp::Result<void> hot_add(QmpClient& qmp, SlotPort& port,
                         const std::vector<nlohmann::json>& functions, bool& plugged);

}  // namespace hotplug
