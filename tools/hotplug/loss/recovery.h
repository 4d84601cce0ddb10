// SPDX-License-Identifier: GPL-2.0
// Purpose: one way back of a GPU from the event to its use.
// Thread: one at a time per machine.
#pragma once

#include <optional>
#include <string>

#include "hotplug/base/deadline.h"
#include "hotplug/guest/agent_client.h"
#include "hotplug/loss/guest_write.h"
#include "hotplug/machine/machine.h"
#include "hotplug/values/loss_kind.h"
#include "hotplug/values/loss_timeline.h"
#include "hotplug/values/replacement.h"
#include "lib/result.h"

namespace hotplug {

class Recovery {
public:
    Recovery(Machine& machine, GpuSlot& slot, Loss loss, const Replacement& replacement,
             Deadline deadline)
        : machine_(machine),
          agent_(machine.agent()),
          slot_(slot),
          kind_(kind_of(loss)),
          replacement_(replacement),
          deadline_(deadline) {}

    /// Once.
    hp::Result<ReplugTimeline> run();

private:
    hp::Result<void> prepare();
    hp::Result<void> start();
    hp::Result<void> wait_in_use();
    /// Why there is no board any more although nobody took it out.
    std::string put_away() const;
    void note(ReplugTimeline::Span& moment, bool reached) const;

    Machine& machine_;
    AgentClient& agent_;
    GpuSlot& slot_;
    const LossKind& kind_;
    const Replacement& replacement_;
    Deadline deadline_;
    ReplugTimeline timeline_;
    LogMark mark_;
    std::optional<GuestWrite> write_;
};

}  // namespace hotplug
