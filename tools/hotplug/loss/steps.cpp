// SPDX-License-Identifier: GPL-2.0
// Purpose: see steps.h.
// Thread: one.
#include "hotplug/loss/steps.h"

namespace hotplug {

hp::Result<std::string> wait_slot_off(GpuSlot& slot, Deadline deadline) {
    while (true) {
        auto off = slot.port().powered_off();
        if (!off) {
            return tl::unexpected(off.error());
        }
        if (*off && (slot.deleted() || !slot.plugged())) {
            return std::string();
        }
        if (deadline.expired()) {
            const auto registers = slot.port().registers();
            return deadline.missed("the guest to power the slot off: " +
                                   (registers ? *registers : registers.error().message));
        }
        deadline.pause(poll_interval);
    }
}

}  // namespace hotplug
