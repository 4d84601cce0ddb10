// SPDX-License-Identifier: GPL-2.0
// Purpose: see loss.h.
// Thread: see loss.h.
#include "hotplug/loss/loss.h"

#include "hotplug/loss/recovery.h"
#include "hotplug/loss/removal.h"

namespace hotplug {

hp::Result<LossTimeline> lose(Machine& machine, GpuSlot& slot, Loss loss, Deadline deadline,
                              const LossOptions& options) {
    auto timeline = Removal(machine, slot, loss, deadline, options).run();
    if (!timeline) {
        return tl::unexpected(machine.explain(timeline.error()));
    }
    return timeline;
}

hp::Result<ReplugTimeline> recover(Machine& machine, GpuSlot& slot, Loss loss,
                                   const Replacement& replacement, Deadline deadline) {
    auto timeline = Recovery(machine, slot, loss, replacement, deadline).run();
    if (!timeline) {
        return tl::unexpected(machine.explain(timeline.error()));
    }
    return timeline;
}

}  // namespace hotplug
