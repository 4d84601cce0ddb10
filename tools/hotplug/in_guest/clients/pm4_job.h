// SPDX-License-Identifier: GPL-2.0
// Purpose: a computation whose result tells whether each step was done once, in order, and right:
// eight words, each step changes all of them. As commands for a GPU, and as the CPU does it.
// Thread: values, no state.
#pragma once

#include <array>
#include <cstdint>

#include "hotplug/in_guest/clients/command_buffer.h"

namespace hp::clients {

using JobState = std::array<std::uint32_t, 8>;

JobState first_job_state();

/// What the step with this number makes of a state.
JobState job_step(const JobState& state, std::uint64_t step);

/// Where the commands of a step find and leave things, each place for one JobState.
struct JobPlaces {
    std::uint64_t state;    ///< read and changed
    std::uint64_t scratch;  ///< changed
    std::uint64_t result;   ///< gets the state after the step
};

/// The dwords that the commands of a step have.
constexpr unsigned job_step_dwords = 288;

void write_job_step(CommandBuffer& commands, const JobPlaces& places, std::uint64_t step);

}  // namespace hp::clients
