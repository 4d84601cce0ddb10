// SPDX-License-Identifier: GPL-2.0
// Purpose: see states.h.
// Thread: see states.h.
#include "gpupool/placement/states.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace gpupool {

namespace {

using G = GpuState;
using GE = GpuEvent;
constexpr Arrow<G, GE> gpu_table[] = {
    {G::fresh, GE::scrub, G::scrubbing},
    {G::scrubbing, GE::scrubbed, G::free},
    {G::free, GE::reserve, G::reserved},
    {G::reserved, GE::cancel, G::free},
    {G::reserved, GE::attach, G::attaching},
    {G::attaching, GE::attached, G::leased},
    {G::attaching, GE::detach, G::detaching},
    {G::leased, GE::detach, G::detaching},
    {G::detaching, GE::detached, G::scrubbing},
    {G::fresh, GE::fail, G::failed},
    {G::scrubbing, GE::fail, G::failed},
    {G::free, GE::fail, G::failed},
    {G::reserved, GE::fail, G::failed},
    {G::attaching, GE::fail, G::failed},
    {G::leased, GE::fail, G::failed},
    {G::detaching, GE::fail, G::failed},
    {G::failed, GE::pulled, G::pulled},
    {G::pulled, GE::quarantine, G::quarantined},
    {G::quarantined, GE::test, G::scrubbing},
    {G::quarantined, GE::retire, G::retired},
    // What broke stays broken; nothing else can be known of a board that had no power.
    {G::fresh, GE::restart, G::scrubbing},
    {G::scrubbing, GE::restart, G::scrubbing},
    {G::free, GE::restart, G::scrubbing},
    {G::reserved, GE::restart, G::scrubbing},
    {G::attaching, GE::restart, G::scrubbing},
    {G::leased, GE::restart, G::scrubbing},
    {G::detaching, GE::restart, G::scrubbing},
};

using L = LeaseState;
using LE = LeaseEvent;
constexpr Arrow<L, LE> lease_table[] = {
    {L::queued, LE::assign, L::attaching},
    {L::attaching, LE::attached, L::active},
    // Its GPU never came: it waits on, and served before those that wait from the beginning.
    {L::attaching, LE::gpu_failed, L::degraded},
    {L::active, LE::gpu_failed, L::degraded},
    {L::replacing, LE::gpu_failed, L::degraded},
    {L::degraded, LE::assign, L::replacing},
    {L::active, LE::replace, L::replacing},
    {L::replacing, LE::attached, L::active},
    {L::queued, LE::give_back, L::closed},
    {L::degraded, LE::give_back, L::closed},
    {L::attaching, LE::give_back, L::returning},
    {L::active, LE::give_back, L::returning},
    {L::replacing, LE::give_back, L::returning},
    {L::returning, LE::given_back, L::closed},
    // A GPU that breaks on its way back needs no replacement.
    {L::returning, LE::gpu_failed, L::closed},
    {L::queued, LE::vm_ended, L::lost},
    {L::attaching, LE::vm_ended, L::lost},
    {L::active, LE::vm_ended, L::lost},
    {L::degraded, LE::vm_ended, L::lost},
    {L::replacing, LE::vm_ended, L::lost},
    {L::returning, LE::vm_ended, L::closed},
};

using V = VmState;
using VE = VmEvent;
constexpr Arrow<V, VE> vm_table[] = {
    {V::stopped, VE::start, V::starting}, {V::starting, VE::started, V::running},
    {V::starting, VE::stop, V::stopping}, {V::running, VE::stop, V::stopping},
    {V::starting, VE::ended, V::stopped}, {V::running, VE::ended, V::stopped},
    {V::stopping, VE::ended, V::stopped},
};

template <typename State, typename Event>
std::optional<State> look_up(std::span<const Arrow<State, Event>> table, State state, Event event) {
    for (const auto& arrow : table) {
        if (arrow.from == state && arrow.event == event) {
            return arrow.to;
        }
    }
    return std::nullopt;
}

// In the order of the enumerations.
constexpr std::array<std::string_view, 11> gpu_state_names{
    "new",       "scrubbing", "free",   "reserved",    "attaching", "leased",
    "detaching", "failed",    "pulled", "quarantined", "retired"};
constexpr std::array<std::string_view, 14> gpu_event_names{
    "scrub",    "scrubbed", "reserve", "cancel",     "attach", "attached", "detach",
    "detached", "fail",     "pulled",  "quarantine", "test",   "retire",   "restart"};
constexpr std::array<std::string_view, 8> lease_state_names{
    "queued", "attaching", "active", "degraded", "replacing", "returning", "closed", "lost"};
constexpr std::array<std::string_view, 7> lease_event_names{
    "assign", "attached", "gpu-failed", "replace", "give-back", "given-back", "vm-ended"};
constexpr std::array<std::string_view, 4> vm_state_names{"stopped", "starting", "running",
                                                         "stopping"};
constexpr std::array<std::string_view, 4> vm_event_names{"start", "started", "stop", "ended"};

template <typename Value, size_t Size>
std::string_view name_in(const std::array<std::string_view, Size>& names, Value value) {
    return names.at(static_cast<size_t>(value));
}

template <typename Value, size_t Size>
std::optional<Value> value_in(const std::array<std::string_view, Size>& names,
                              std::string_view name) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
        return std::nullopt;
    }
    return static_cast<Value>(std::distance(names.begin(), found));
}

}  // namespace

std::span<const Arrow<GpuState, GpuEvent>> gpu_arrows() {
    return gpu_table;
}
std::span<const Arrow<LeaseState, LeaseEvent>> lease_arrows() {
    return lease_table;
}
std::span<const Arrow<VmState, VmEvent>> vm_arrows() {
    return vm_table;
}

std::optional<GpuState> next(GpuState state, GpuEvent event) {
    return look_up(gpu_arrows(), state, event);
}
std::optional<LeaseState> next(LeaseState state, LeaseEvent event) {
    return look_up(lease_arrows(), state, event);
}
std::optional<VmState> next(VmState state, VmEvent event) {
    return look_up(vm_arrows(), state, event);
}

std::string_view name_of(GpuState state) {
    return name_in(gpu_state_names, state);
}
std::string_view name_of(GpuEvent event) {
    return name_in(gpu_event_names, event);
}
std::string_view name_of(LeaseState state) {
    return name_in(lease_state_names, state);
}
std::string_view name_of(LeaseEvent event) {
    return name_in(lease_event_names, event);
}
std::string_view name_of(VmState state) {
    return name_in(vm_state_names, state);
}
std::string_view name_of(VmEvent event) {
    return name_in(vm_event_names, event);
}
std::optional<GpuState> gpu_state(std::string_view name) {
    return value_in<GpuState>(gpu_state_names, name);
}
std::optional<LeaseState> lease_state(std::string_view name) {
    return value_in<LeaseState>(lease_state_names, name);
}
std::optional<VmState> vm_state(std::string_view name) {
    return value_in<VmState>(vm_state_names, name);
}

bool is_held(GpuState state) {
    switch (state) {
        case GpuState::reserved:
        case GpuState::attaching:
        case GpuState::leased: return true;
        default: return false;
    }
}

bool is_broken(GpuState state) {
    switch (state) {
        case GpuState::failed:
        case GpuState::pulled:
        case GpuState::quarantined:
        case GpuState::retired: return true;
        default: return false;
    }
}

bool is_over(LeaseState state) {
    return state == LeaseState::closed || state == LeaseState::lost;
}

}  // namespace gpupool
