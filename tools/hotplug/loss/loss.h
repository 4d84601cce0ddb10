// SPDX-License-Identifier: GPL-2.0
// Purpose: loses a GPU of a running machine, and gets it back (values/loss_kind.h has the ways).
// Thread: one at a time per machine. A removal that does not return in time is the driver's result
// and is reported as a value (`stuck`); a failure means that the harness could not do its part.
#pragma once

#include "hotplug/base/deadline.h"
#include "hotplug/machine/gpu_slot.h"
#include "hotplug/machine/machine.h"
#include "hotplug/values/loss_kind.h"
#include "hotplug/values/loss_options.h"
#include "hotplug/values/loss_timeline.h"
#include "hotplug/values/replacement.h"
#include "lib/result.h"

namespace hotplug {

/// Loses the GPU of `slot` and waits for the end of its removal, at most until `deadline`.
hp::Result<LossTimeline> lose(Machine& machine, GpuSlot& slot, Loss loss, Deadline deadline,
                              const LossOptions& options = {});

/// Gets back the GPU that was lost by `loss`: device_add where the slot is empty, rescan where the
/// device was removed through sysfs, bind after unbind, nothing after AER. Lays the black hole
/// under it again. `replacement` may only ask for something where empties_slot(loss).
hp::Result<ReplugTimeline> recover(Machine& machine, GpuSlot& slot, Loss loss,
                                   const Replacement& replacement, Deadline deadline);

}  // namespace hotplug
