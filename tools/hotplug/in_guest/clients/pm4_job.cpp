// SPDX-License-Identifier: GPL-2.0
// Purpose: a computation whose result tells whether each step was done once, in order, and right:
// eight words, each step changes all of them. As commands for a GPU, and as the CPU does it.
// Thread: values, no state.
#include "hotplug/in_guest/clients/pm4_job.h"

namespace hp::clients {

namespace {

constexpr std::size_t words = std::tuple_size_v<JobState>;

/// A number that depends on the step and the word (the finalizer of MurmurHash3).
std::uint32_t constant(std::uint64_t step, std::size_t number) {
    auto value = static_cast<std::uint32_t>(step * 2 * words + number);
    value = (value ^ value >> 16) * 0x85ebca6b;
    value = (value ^ value >> 13) * 0xc2b2ae35;
    return value ^ value >> 16;
}

std::uint64_t word(std::uint64_t place, std::size_t number) {
    return place + number * sizeof(std::uint32_t);
}

}  // namespace

JobState first_job_state() {
    JobState state{};
    for (std::size_t i = 0; i < words; ++i) {
        state[i] = constant(~std::uint64_t{0}, i);
    }
    return state;
}

JobState job_step(const JobState& state, std::uint64_t step) {
    JobState next{};
    for (std::size_t i = 0; i < words; ++i) {
        next[(i + 1) % words] = (state[i] + constant(step, 2 * i)) ^ constant(step, 2 * i + 1);
    }
    return next;
}

void write_job_step(CommandBuffer& commands, const JobPlaces& places, std::uint64_t step) {
    for (std::size_t i = 0; i < words; ++i) {
        commands.pm4_atomic_add(word(places.state, i), constant(step, 2 * i));
        commands.pm4_atomic_xor(word(places.state, i), constant(step, 2 * i + 1));
    }
    for (std::size_t i = 0; i < words; ++i) {
        commands.pm4_copy(word(places.state, i), word(places.scratch, (i + 1) % words));
    }
    for (std::size_t i = 0; i < words; ++i) {
        commands.pm4_copy(word(places.scratch, i), word(places.state, i));
        commands.pm4_copy(word(places.scratch, i), word(places.result, i));
    }
    commands.pm4_pad();
}

}  // namespace hp::clients
