// SPDX-License-Identifier: GPL-2.0
// Purpose: see hot_add.h.
// Thread: see hot_add.h.
#include "hotplug/machine/hot_add.h"

namespace hotplug {

nlohmann::json vfio_user_device(const std::string& id, const std::string& bus,
                                const std::string& socket) {
    return {{"driver", "vfio-user-pci"},
            {"id", id},
            {"bus", bus},
            {"socket", {{"type", "unix"}, {"path", socket}}}};
}

// QEMU reports a new board as "presence changed" and "button pressed" at once. A guest that is
// still at the end of a surprise removal, behind its last write to the slot, looks at presence once
// more and switches the slot on; the press, taken in after that, asks for power off: 5 seconds
// later the guest puts the new board away. So the press is taken back before a CPU can see it. The
// interrupt has been raised, and presence is what it then reports.
hp::Result<void> hot_add(QmpClient& qmp, SlotPort& port,
                         const std::vector<nlohmann::json>& functions, bool& plugged) {
    if (auto stopped = qmp.execute("stop"); !stopped) {
        return tl::unexpected(stopped.error());
    }
    hp::Result<void> added;
    for (const nlohmann::json& function : functions) {
        added = added.and_then([&]() -> hp::Result<void> {
            return qmp.execute("device_add", function).map([](const nlohmann::json&) {});
        });
    }
    added = added.and_then([&]() -> hp::Result<void> {
        plugged = true;
        return port.release_button();
    });
    if (auto going = qmp.execute("cont"); !going) {
        return tl::unexpected(going.error());
    }
    return added;
}

}  // namespace hotplug
