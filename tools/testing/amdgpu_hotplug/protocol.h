// SPDX-License-Identifier: GPL-2.0
// Purpose: who calls the state machine of a GPU, in what order, and what must hold whatever the
// order of their steps: the protocol that amdgpu_hotplug_state.h asks of the driver, written down
// as roles and invariants. Thread: any; everything here is a value. Not modelled: time, memory
// order, and what the driver does between two calls, except where it overlaps with others.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string_view>
#include <vector>

#include "testing/amdgpu_hotplug/state_calls.h"
#include "testing/amdgpu_hotplug/stepper.h"

namespace hp::model {

/// What is done once for a loss, in a work item: fences completed, user space told.
enum class Work : std::uint8_t { idle, queued, running };

/// A GPU as the driver knows it, and, for the invariants, what has happened to it.
struct Gpu {
    std::int8_t word = 0;
    bool probed = false;
    bool was_lost = false;
    bool device_lock = false;  // the driver core's: removal and power management exclude each other
    bool tearing_down = false;
    bool removal_begun = false;  // and told to the loss work
    Work work = Work::idle;
    std::uint8_t announced = 0;  // losses made known to user space
    std::uint8_t removals = 0;   // that ended
    std::uint8_t resets = 0;     // that run
    std::uint8_t files = 0;      // that are open
    std::uint8_t sections = 0;   // ioctls that run

    auto operator<=>(const Gpu&) const = default;
};

/// One of the concurrent activities, and how far it is.
struct Actor {
    std::uint8_t role = 0;
    std::uint8_t gpu = 0;
    std::uint8_t at = 0;         // the step that comes next
    std::int8_t entry_word = 0;  // the GPU's word when the call that runs began
    Observed observed;           // by the call that runs

    bool in_call() const { return observed.count != 0; }
    bool begun() const { return at != 0 || in_call(); }
    auto operator<=>(const Actor&) const = default;
};

/// How many activities a state has room for.
inline constexpr std::size_t max_actors = 9;

/// Made of bytes only, without holes: the explorer hashes them.
struct State {
    std::array<Gpu, 2> gpus;  // the second is what is plugged in after the first was removed
    std::array<Actor, max_actors> actors;
    std::uint8_t actor_count = 0;

    auto operator<=>(const State&) const = default;
};

/// What an invariant says that was broken. Empty: none was.
using Complaint = std::string_view;

/// A step calls a function of the state machine, or none; `then` is what follows from its result
/// and moves the actor on. It belongs to the call's last atomic operation: nothing comes between.
struct Step {
    std::string_view name;
    Function call;                                // nullptr: none
    bool (*enabled)(const State&, const Actor&);  // nullptr: always
    Complaint (*then)(State&, Actor&, int result);
    bool optional = false;  // up to user space, which may never do it
};

struct Role {
    std::string_view name;
    std::vector<Step> steps;
};

enum RoleId : std::uint8_t {
    lost,
    silence_ends,
    silence_lasts,
    removal,
    reset,
    suspend,
    absent_at_resume,
    client,
    replug,
    loss_work
};

/// The roles, in the order of RoleId, calling these functions. The loss work has to see whether a
/// removal has begun: removal flushes it, but it may be queued after that, by who was told of the
/// loss before. `work_asks` is false to show so.
std::vector<Role> make_roles(const hotplug_calls& calls, bool work_asks = true);

/// The actor's next step, or nullptr when it has finished.
const Step* next_step(const std::vector<Role>& roles, const Actor& actor);

/// What must hold between the states before and after any step of an actor at `gpu`.
Complaint check_step(const State& before, const State& after, std::uint8_t gpu);

/// What must hold when no activity that has begun can go on, but at user space's will.
Complaint check_rest(const State& state, const std::vector<Role>& roles);

}  // namespace hp::model
