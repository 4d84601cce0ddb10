// SPDX-License-Identifier: GPL-2.0
// Purpose: runs rows in order, on as few guest boots as their verdicts allow, and keeps what a
// failure leaves. Thread: one at a time.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hotplug/judge/expected.h"
#include "hotplug/judge/leak.h"
#include "hotplug/judge/quarantine.h"
#include "hotplug/judge/verdict.h"
#include "hotplug/run/hang_examiner.h"
#include "hotplug/run/progress.h"
#include "hotplug/run/testbed.h"
#include "hotplug/scenario/catalogue.h"

namespace hotplug {

struct RunnerConfig {
    std::filesystem::path results_dir;
    /// Called once, after the first boot: the list depends on the kernel that is found running.
    std::function<hp::Result<ExpectedFailures>(const GuestFacts&)> expected;
    /// Which failures leave a bundle; empty: all of them.
    std::function<bool(const RowResult&)> bundles = {};
    /// Called before the first row and after each one with what there is so far and the number of
    /// rows that there will be. A failure ends the run.
    std::function<hp::Result<void>(const RunReport&, size_t planned)> keep = {};
    HangExaminer examiner = {};  ///< by itself it looks at nothing
    /// Runs a row of Scenario::pool; without it such rows are skipped.
    std::function<RowResult(const Row&)> pool_trial = {};
    bool fail_on_skip = false;  ///< a row that was skipped fails the run
    Quarantine quarantine = {};
    /// How long a guest is watched after its last row: what a work item or an RCU callback does
    /// late, no event tells.
    std::chrono::milliseconds late_watch{2000};
};

/// Rows one after the other, when the next one depends on what came of those before.
class RowSource {
public:
    virtual ~RowSource() = default;
    /// How many there will be, for the progress line.
    virtual size_t size() const = 0;
    /// Nothing: that was the last one.
    virtual std::optional<Row> next() = 0;
    /// Each row that next() gave, judged. A failure ends the run.
    virtual hp::Result<void> finished(const RowResult& result) = 0;
    /// The ids of the rows that next() has not given, for a run that ends early; none where they
    /// are not known before their time.
    virtual std::vector<std::string> left() const { return {}; }
};

class Runner {
public:
    /// Both must outlive the runner.
    Runner(TestbedFactory& factory, Progress& progress, RunnerConfig config);

    /// Fills the rows and what of `info` only a running guest tells. Comes back early on Ctrl-C
    /// (info.interrupted), when Deadline's limit for all has passed (info.out_of_time), and when no
    /// guest boots (info.error); it says then which rows were not run.
    RunReport run(std::span<const Row> rows, RunInfo info);
    RunReport run(RowSource& rows, RunInfo info);

private:
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
    /// What examine() leaves of the row.
    std::filesystem::path hang_folder() const { return config_.results_dir / "hang"; }
    hp::Result<void> keep_report(size_t planned) const;
    /// What the run as a whole has against it.
    void conclude();

    TestbedFactory& factory_;
    Progress& progress_;
    RunnerConfig config_;
    ExpectedFailures expected_;
    RunReport report_;

    std::unique_ptr<Testbed> bed_;
    std::filesystem::path boot_dir_;
    unsigned rows_on_this_boot_ = 0;
    std::string last_row_;  ///< of this boot; empty: none yet
    std::string last_key_;  ///< the same, as the list of expected failures knows it
    GuestHistory history_;  ///< of this boot
    bool row_cut_ = false;  ///< the last row was broken off: it has no verdict
};

}  // namespace hotplug
