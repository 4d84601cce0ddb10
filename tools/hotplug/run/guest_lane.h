// SPDX-License-Identifier: GPL-2.0
// Purpose: runs rows on one guest after the other, on as few boots as their verdicts allow, and
// keeps what a failure leaves. A run has one lane for each guest that it may have at once.
// Thread: one, which must outlive the guests: see machine.h.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "hotplug/judge/leak.h"
#include "hotplug/run/run_book.h"

namespace hotplug {

class GuestLane {
public:
    /// All of them must outlive the lane.
    GuestLane(TestbedFactory& factory, Progress& progress, const RunnerConfig& config,
              RunBook& book)
        : factory_(factory), progress_(progress), config_(config), book_(book) {}
    GuestLane(const GuestLane&) = delete;
    GuestLane& operator=(const GuestLane&) = delete;

    /// Takes rows from the book until there are none, or the run has ended. Once.
    void run();

private:
    /// Runs the row and takes it down in the book. False: the row has no verdict, and the lane does
    /// not go on.
    bool run_and_judge(const Row& row);
    hp::Result<void> ensure_guest(const Row& row);
    /// Boots until a guest is fit to be judged, as often as that may take.
    hp::Result<void> boot_fit_guest();
    /// Boots, and once more if that fails.
    hp::Result<void> boot();
    hp::Result<void> boot_once();
    /// Why no row may be judged on the guest that has just booted; empty: one may.
    std::string find_boot_flaw();
    /// Takes down what the kernel has complained of since the last row ended. The first title;
    /// empty: of nothing.
    std::string record_late_complaints();
    /// Takes it down, then ends the guest.
    void end_guest();
    /// Ends it and keeps its log: a bundle may want it.
    void give_up_guest();
    RowResult run_row(const Row& row);
    /// A row that has guests of its own.
    RowResult run_pool_trial(const Row& row);
    /// Looks into the guest of a row that hangs, unless all that failed so far is known to fail.
    void examine(RowResult& result, const std::string& hang);
    hp::Result<std::string> keep_bundle(const RowResult& result);
    /// Of this boot.
    void add(IntegrityKind kind, std::string text);
    /// What examine() leaves of the row.
    std::filesystem::path hang_folder() const;

    TestbedFactory& factory_;
    Progress& progress_;
    const RunnerConfig& config_;
    RunBook& book_;

    std::unique_ptr<Testbed> bed_;
    unsigned boot_ = 0;  ///< its number; 0: none yet
    std::filesystem::path boot_dir_;
    unsigned rows_on_this_boot_ = 0;
    std::string last_row_;  ///< of this boot; empty: none yet
    std::string last_key_;  ///< the same, as the list of expected failures knows it
    GuestHistory history_;  ///< of this boot
    bool row_cut_ = false;  ///< the last row was broken off: it has no verdict
};

}  // namespace hotplug
