// SPDX-License-Identifier: GPL-2.0
// Purpose: runs one row on a guest that is up: does the steps, observes, judges.
// Thread: one at a time.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "hotplug/judge/leak.h"
#include "hotplug/judge/verdict.h"
#include "hotplug/run/progress.h"
#include "hotplug/run/runner_client.h"
#include "hotplug/run/testbed.h"
#include "hotplug/scenario/catalogue.h"
#include "lib/result.h"

namespace hotplug {

class RowRun {
public:
    /// `history`: of the rows before on this boot; this one is added.
    RowRun(Testbed& bed, const Row& row, Progress& progress, GuestHistory& history);

    /// The checks' results, not yet held against the list of expected failures.
    RowResult run();

private:
    struct Target {
        size_t slot = 0;
        GpuTarget gpu;
    };

    hp::Result<void> begin();
    void end();

    hp::Result<void> perform(const StartStep& step);
    hp::Result<void> perform(const TellStep& step);
    hp::Result<void> perform(const StopStep& step);
    hp::Result<void> perform(const AwaitStep& step);
    hp::Result<void> perform(const LoseStep& step);
    hp::Result<void> perform(const EmulateStep& step);
    hp::Result<void> perform(const AskStep& step);
    hp::Result<void> perform(const RecoverStep& step);
    hp::Result<void> perform(const ShellStep& step);
    hp::Result<void> perform(const WaitStep& step);
    hp::Result<void> perform(const ExpectStep& step);
    hp::Result<void> perform(const SettleStep& step);

    hp::Result<void> find_target(Target& target);
    Target& target(Role role) { return role == Role::victim ? victim_ : bystander_; }
    std::string expand(std::string text) const;
    GuestClient* find_client(const std::string& name);
    bool wants(Check check) const;
    void observe_meanwhile(const LoseStep& step, const LossTimeline& loss);
    void observe_clients(Episode& episode);
    void observe_fences(Episode& episode) const;
    hp::Result<void> observe_orphans();
    hp::Result<void> observe_accesses();
    void observe_mutations();
    hp::Result<void> run_first_jobs(Episode& episode);
    std::string last_kernel_line(const Episode& episode);
    std::string first_kernel_words(const ReplugTimeline& replug);

    void judge_again(std::span<const Check> checks);
    CheckResult judge_now(Check check);
    CheckResult judge_bystander();
    std::vector<std::string> find_evictions();
    CheckResult judge_kfd();
    std::vector<std::string> find_row_leaks();
    std::vector<std::string> find_growth();
    void mark_unfit(const std::string& why);
    bool kmemleak_is_due() const;

    Testbed& bed_;
    const Row& row_;
    const Scenario& scenario_;
    const Limits limits_;
    Progress& progress_;
    GuestHistory& history_;

    RowResult result_;
    Target victim_;
    Target bystander_;
    GpuTarget victim_at_start_;
    GuestState before_;
    GuestState before_loss_;
    size_t log_from_ = 0;
    std::vector<GuestClient> clients_;
    Orphans orphans_;
    /// What the emulators said when they were asked last.
    std::map<Role, nlohmann::json> answers_;
    bool lost_ = false;         // the victim is not back
    bool silent_ = false;       // the guest does not answer: each question would cost its deadline
    bool faulty_ = false;       // an emulator was told to misbehave
    std::set<size_t> hostile_;  // slots whose device was told to lie
    std::set<size_t> lying_;    // those in which no other board was put since
    std::string step_failure_;
    std::string held_up_;  // what went wrong during a removal: the row goes on
    std::string unfit_;
};

}  // namespace hotplug
