// SPDX-License-Identifier: GPL-2.0
// Purpose: what is under way when a GPU vanishes at an access: a command in the guest, a board that
// is plugged in, a guest that is suspended. Thread: one at a time per machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "hotplug/base/deadline.h"
#include "hotplug/machine/machine.h"
#include "hotplug/values/accesses.h"
#include "hotplug/values/job_id.h"
#include "lib/result.h"

namespace hotplug {

class ActionUnderWay {
public:
    /// `during`: see LossOptions.
    ActionUnderWay(Machine& machine, GpuSlot& slot, std::string during)
        : machine_(machine), slot_(slot), during_(std::move(during)) {}

    bool plugs() const;
    bool suspends() const;

    /// Where a board is to be plugged in: waits for the slot to be off, and makes the board ready.
    hp::Result<void> prepare(Deadline deadline);
    /// Starts the action; the GPU vanishes before access `access` (1: the first) of it; 0, or more
    /// than it makes: when it has ended. Returns when the GPU has vanished.
    hp::Result<void> run_until_vanished(uint64_t access);
    /// How it vanished.
    hp::Result<Vanishing> vanishing(Deadline deadline);
    /// Waits until the guest can be asked again; the answer is what was missed, or empty.
    hp::Result<std::string> wait_awake(Deadline deadline);
    /// Waits for the command's end; false: it does not end.
    bool wait_end();

private:
    hp::Result<void> start();
    hp::Result<bool> ended();
    /// How long the emulator is listened to before ended() is asked again.
    std::chrono::milliseconds pace() const;

    Machine& machine_;
    GpuSlot& slot_;
    std::string during_;
    std::optional<JobId> job_;
    uint64_t earlier_ = 0;          // events `vanished` before this one
    std::optional<Deadline> over_;  // by then the action has ended
};

}  // namespace hotplug
