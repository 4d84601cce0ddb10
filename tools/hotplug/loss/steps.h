// SPDX-License-Identifier: GPL-2.0
// Purpose: what the ways to lose a GPU and the ways back have in common.
// Thread: one.
#pragma once

#include <chrono>
#include <string>

#include "hotplug/base/deadline.h"
#include "hotplug/machine/gpu_slot.h"
#include "hotplug/values/loss_kind.h"
#include "lib/result.h"

namespace hotplug {

/// How often the guest is asked about what it does.
inline constexpr std::chrono::milliseconds poll_interval{50};
/// The agent answers while a removal blocks others; this long without an answer, the guest is gone.
inline constexpr std::chrono::seconds answer_deadline{30};

inline std::chrono::microseconds span(Deadline::Clock::time_point from,
                                      Deadline::Clock::time_point to) {
    return std::chrono::duration_cast<std::chrono::microseconds>(to - from);
}

/// Waits for the guest to switch a slot off and for QEMU to let go of the board; the answer is what
/// was missed, or empty.
hp::Result<std::string> wait_slot_off(GpuSlot& slot, Deadline deadline);

}  // namespace hotplug
