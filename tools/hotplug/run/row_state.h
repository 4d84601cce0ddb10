// SPDX-License-Identifier: GPL-2.0
// Purpose: what the steps of a row, what is seen and what is judged share: the guest, the GPUs, the
// clients that run, and the result as far as it goes. Thread: one at a time.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "hotplug/judge/leak.h"
#include "hotplug/judge/verdict.h"
#include "hotplug/run/runner_client.h"
#include "hotplug/run/testbed.h"
#include "hotplug/scenario/catalogue.h"
#include "lib/result.h"

namespace hotplug {

/// Of a row that begins now: what the row itself tells.
RowResult result_for(const Row& row);

struct RowState {
    struct Target {
        size_t slot = 0;
        GpuTarget gpu;
    };

    /// Neither asks the guest anything. `bed`, `row` and `history` must outlive it.
    RowState(Testbed& bed, const Row& row, GuestHistory& history);

    Target& target(Role role) { return role == Role::victim ? victim : bystander; }
    /// Fills `target.gpu` from what the guest has in the slot now.
    hp::Result<void> find_target(Target& target);
    /// With the variables of a scenario ($VICTIM, $BYSTANDER_NODE, ...) replaced.
    std::string expand(std::string text) const;
    /// The last one of that name; nullptr: none.
    GuestClient* find_client(const std::string& name);
    /// No other row may run on this guest. The first reason counts.
    void mark_unfit(const std::string& why);

    Testbed& bed;
    const Row& row;
    const Scenario& scenario;
    const Limits limits;
    GuestHistory& history;

    RowResult result;
    Target victim;
    Target bystander;
    GpuTarget victim_at_start;
    GuestState before;                   ///< the row
    GuestState before_loss;              ///< the last one
    std::vector<StrayDma> stray_before;  ///< the row
    size_t log_from = 0;                 ///< the row's first line of the kernel log
    std::vector<GuestClient> clients;
    /// What those said that a step has stopped since, as GuestClient::troubles() has it.
    std::multimap<std::string, std::vector<std::string>> stopped_bystanders;
    Orphans orphans;
    bool lost = false;         ///< the victim is not back
    bool silent = false;       ///< the guest does not answer: each question would cost its deadline
    bool faulty = false;       ///< an emulator was told to misbehave
    std::set<size_t> hostile;  ///< slots whose device was told to lie
    std::set<size_t> lying;    ///< those in which no other board was put since
    std::string step_failure;  ///< ends the row
    std::string overdue;       ///< what has not ended in its time: a step, or what ran during one
    std::string held_up;       ///< what went wrong during a removal: the row goes on
};

/// An open of /dev/kfd takes milliseconds, or for ever behind a removal that is stuck.
inline constexpr auto open_deadline = std::chrono::seconds(10);

/// The guest's state after its caches have given back what is free, so that an object that is left
/// can be told from one that lies in reserve. Fails when they cannot be made to.
hp::Result<GuestState> rested_state(Testbed& bed);

/// What a program printed, on one line as far as it can be.
std::string output_of(const RunResult& run);

}  // namespace hotplug
