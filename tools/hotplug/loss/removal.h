// SPDX-License-Identifier: GPL-2.0
// Purpose: one removal of a GPU from the event to its end.
// Thread: one at a time per machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hotplug/base/deadline.h"
#include "hotplug/guest/agent_client.h"
#include "hotplug/loss/action_under_way.h"
#include "hotplug/loss/guest_write.h"
#include "hotplug/machine/machine.h"
#include "hotplug/values/loss_kind.h"
#include "hotplug/values/loss_options.h"
#include "hotplug/values/loss_timeline.h"
#include "lib/result.h"

namespace hotplug {

class Removal {
public:
    Removal(Machine& machine, GpuSlot& slot, Loss loss, Deadline deadline,
            const LossOptions& options);

    /// Once.
    hp::Result<LossTimeline> run();

private:
    hp::Result<void> prepare();
    /// What happens to the board, and when it is so far, the event of the timeline.
    hp::Result<void> fail_board();
    hp::Result<void> take_link_down();
    hp::Result<void> vanish_at_access();
    /// Tells the guest, and waits until it is done with the GPU.
    hp::Result<void> remove();
    hp::Result<void> remove_by_button();
    hp::Result<void> remove_by_slot_event(Restore restore);
    hp::Result<void> remove_by_guest_write();
    hp::Result<void> recover_from_link_error();
    hp::Result<void> come_back_unannounced();

    void mark_event();
    hp::Result<void> announce();

    hp::Result<void> wait_until_over(GuestWrite* write);
    bool overdue() const;
    hp::Result<bool> stands_still();
    hp::Result<bool> note_directory();
    void note_deleted();
    bool names_device(const std::string& text) const;
    void find_notification();

    Machine& machine_;
    AgentClient& agent_;
    GpuSlot& slot_;
    const LossKind& kind_;
    Deadline deadline_;
    const LossOptions& options_;
    std::optional<ActionUnderWay> action_;  // BoardFailure::at_access
    LossTimeline timeline_;
    std::string port_bdf_;  // what the kernel log calls the port that tells
    LogMark mark_;
    std::optional<Deadline::Clock::time_point> directory_gone_;
    bool told_overdue_ = false;
    uint64_t accesses_ = 0;                   // seen when the removal last touched the device
    Deadline::Clock::time_point last_touch_;  // and when that was noticed
};

}  // namespace hotplug
