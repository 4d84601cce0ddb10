// SPDX-License-Identifier: GPL-2.0
// Purpose: the states of a GPU, a lease and a VM, what can happen to each, and where that leads:
// three tables, which are all there is of it. What is in none of them cannot happen.
// Thread: values and pure functions. Not modelled: partitions, which will have states of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace gpupool {

enum class GpuState : uint8_t {
    fresh,        // "new": nobody knows what is in it
    scrubbing,    // on its way through a cold reset
    free,         // clean, and nobody's
    reserved,     // a lease's, which waits for a slot of its VM
    attaching,    // on its way into the VM
    leased,       // in the VM
    detaching,    // on its way out of it
    failed,       // not to be trusted any more; still in the VM, if it was in one
    pulled,       // out of it, and without power
    quarantined,  // waits for somebody to test it
    retired,      // for good
};

enum class GpuEvent : uint8_t {
    scrub,       // a cold reset begins
    scrubbed,    // it is over
    reserve,     // for a lease
    cancel,      // the lease went before the GPU was on its way
    attach,      // the slot is there
    attached,    // the guest has it
    detach,      // the lease is over, or has another GPU
    detached,    // the guest has let go of it
    fail,        // somebody found it broken
    pulled,      // see the state
    quarantine,  // see the state
    test,        // somebody wants to try it again
    retire,      // nobody does
    restart,     // the machine restarted: whatever was under way is not any more
};

enum class LeaseState : uint8_t {
    queued,     // no GPU is free
    attaching,  // one is on its way
    active,     // the VM has it
    degraded,   // it failed, and there is no other
    replacing,  // another one is on its way
    returning,  // it is on its way back
    closed,     // returned
    lost,       // the VM ended
};

enum class LeaseEvent : uint8_t {
    assign,      // a GPU is reserved for it
    attached,    // and is in the VM
    gpu_failed,  // the lease's GPU
    replace,     // somebody wants another GPU, which is reserved
    give_back,   // the tenant is done
    given_back,  // nothing of the lease is in the VM any more
    vm_ended,
};

enum class VmState : uint8_t { stopped, starting, running, stopping };
enum class VmEvent : uint8_t { start, started, stop, ended };

template <typename State, typename Event>
struct Arrow {
    State from;
    Event event;
    State to;
};

std::span<const Arrow<GpuState, GpuEvent>> gpu_arrows();
std::span<const Arrow<LeaseState, LeaseEvent>> lease_arrows();
std::span<const Arrow<VmState, VmEvent>> vm_arrows();

/// Where the event leads. Nothing: it cannot happen in that state.
std::optional<GpuState> next(GpuState state, GpuEvent event);
std::optional<LeaseState> next(LeaseState state, LeaseEvent event);
std::optional<VmState> next(VmState state, VmEvent event);

/// As the ledger, the events and the user know them.
std::string_view name_of(GpuState state);
std::string_view name_of(GpuEvent event);
std::string_view name_of(LeaseState state);
std::string_view name_of(LeaseEvent event);
std::string_view name_of(VmState state);
std::string_view name_of(VmEvent event);
std::optional<GpuState> gpu_state(std::string_view name);
std::optional<LeaseState> lease_state(std::string_view name);
std::optional<VmState> vm_state(std::string_view name);

/// It is or will be in a VM for its lease.
bool is_held(GpuState state);
/// It does not work, or nobody knows whether it does.
bool is_broken(GpuState state);
/// The lease is over.
bool is_over(LeaseState state);

}  // namespace gpupool
