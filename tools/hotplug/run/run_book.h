// SPDX-License-Identifier: GPL-2.0
// Purpose: what the guests of one run share: the rows that are left, the report so far, what is
// known of the kernel. Thread: any; each guest of a run has one.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hotplug/judge/expected.h"
#include "hotplug/judge/quarantine.h"
#include "hotplug/judge/verdict.h"
#include "hotplug/run/hang_examiner.h"
#include "hotplug/run/progress.h"
#include "hotplug/run/testbed.h"
#include "hotplug/scenario/catalogue.h"

namespace hotplug {

/// Each of its functions but `bundles` is called by one thread at a time.
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
    unsigned guests = 1;  ///< at once, at most; each runs rows one after the other
};

/// Rows one after the other, when the next one depends on what came of those before. Called by one
/// thread at a time.
class RowSource {
public:
    virtual ~RowSource() = default;
    /// How many there will be, for the progress line.
    virtual size_t size() const = 0;
    /// Nothing: that was the last one.
    virtual std::optional<Row> next() = 0;
    /// What next() would give goes on where the row before ended, on the same guest.
    virtual bool goes_on() const { return false; }
    /// Each row that next() gave, judged. A failure ends the run.
    virtual hp::Result<void> finished(const RowResult& result) = 0;
    /// The ids of the rows that next() has not given, for a run that ends early; none where they
    /// are not known before their time.
    virtual std::vector<std::string> left() const { return {}; }
};

class RunBook {
public:
    /// All of them must outlive the book.
    RunBook(RunnerConfig& config, Progress& progress, RowSource& rows, RunInfo info);

    /// Before the first row. A failure has ended the run.
    hp::Result<void> open();
    /// Rows for one guest, one after the other. Empty: none is left, or the run has ended.
    std::vector<Row> take();
    bool ended() const;
    /// The number of a boot that begins now, from 1.
    unsigned begin_boot();
    /// After each boot; the first one tells which kernel the run is about.
    hp::Result<void> booted(const GuestFacts& facts);
    /// This run has had a guest that booted.
    bool has_booted() const;
    /// By the list of the kernel; before any guest has booted, nothing is known to fail.
    void judge(RowResult& result) const;
    /// For a lane that has called booted(): it does not change afterwards.
    const ExpectedFailures& expected() const { return expected_; }
    RunInfo info() const;
    void add(IntegrityEntry entry);
    /// One guest at a time: it takes memory and disk.
    Hang examine(Testbed& bed, const std::string& reason, const std::filesystem::path& folder);
    /// Likewise; empty where RunnerConfig has no pool_trial.
    std::optional<RowResult> try_pool(const Row& row);
    /// A row that was judged.
    hp::Result<void> finish(RowResult result);
    /// Rows that were taken and have no verdict.
    void leave(std::span<const Row> rows);
    /// Ends the run for all guests. The first one counts.
    void fail(const std::string& why);
    /// When no guest is left. Once.
    RunReport close();

private:
    hp::Result<void> keep() const;
    void conclude();

    RunnerConfig& config_;
    Progress& progress_;
    RowSource& rows_;
    const size_t planned_;
    const Deadline::Clock::time_point start_ = Deadline::Clock::now();

    mutable std::mutex lock_;  ///< of all below
    RunReport report_;
    ExpectedFailures expected_;  ///< written once, by the first booted()
    bool ended_ = false;

    std::mutex alone_;  ///< of config_.examiner and config_.pool_trial
};

}  // namespace hotplug
