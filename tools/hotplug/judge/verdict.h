// SPDX-License-Identifier: GPL-2.0
// Purpose: what came of a row: results of its checks with their evidence, the loss and replug
// timelines, the kernel's complaints, and the verdict: all of the checks, less what is known to
// fail. Thread: values and pure functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hotplug/judge/expected.h"
#include "hotplug/judge/integrity.h"
#include "hotplug/judge/kernel_log.h"
#include "hotplug/judge/ktap_reader.h"
#include "hotplug/scenario/scenario.h"
#include "hotplug/values/accesses.h"
#include "hotplug/values/lies.h"
#include "hotplug/values/loss_timeline.h"

namespace hotplug {

/// `known`: fails as the list of expected failures says. `fixed`: the list says it fails and it
/// passed: the list is out of date, or something hides the failure; red, like `fail`.
/// `quarantined`: of a row, not of a check: one of these two, but excused (quarantine.h).
enum class Outcome { pass, known, fixed, fail, quarantined, skip };

std::string_view to_string(Outcome outcome);
/// It fails the run.
bool is_red(Outcome outcome);

struct CheckResult {
    Check check = Check::steps;
    bool passed = true;
    std::string value{};                  ///< for the table: "64.6 s", "1306454"; may be empty
    std::vector<std::string> evidence{};  ///< kernel lines or states that show the failure
    Outcome outcome = Outcome::pass;      ///< set by judge()
    std::string reason{};                 ///< of a known failure
};

/// A fence of a client that ended with an error, and how long after the loss.
struct FailedFence {
    std::string client;
    std::chrono::microseconds after{0};
    int status = 0;  ///< "-19": what sync_file_info says
};

/// A worker on the GPU that is lost, and how it took the loss.
struct VictimClient {
    std::string name;
    bool ended_before = false;                         ///< the loss found it ended, and not well
    std::optional<std::chrono::microseconds> ended{};  ///< after the loss; nothing: it runs
    bool goes_on = false;                              ///< it runs, and has done something since
    std::optional<int> signal{};  ///< that ended it, or that it caught to tell of it
    std::string reason{};         ///< of its last word, as in protocols.md; empty: it had none
    int error = 0;                ///< errno of that
    uint64_t bad = 0;             ///< results that were wrong
    std::string last_line{};
};

/// One loss with what followed from it. Spans count from the loss, those of `replug` from the
/// replug.
struct Episode {
    LossTimeline loss;
    std::vector<VictimClient> clients;  ///< in the order in which they were started
    std::vector<FailedFence> fences;    ///< shown, not judged
    AbsentAccesses accesses;
    std::string last_kernel_line;  ///< about the GPU, when the removal was over or given up
    std::optional<ReplugTimeline> replug;
    std::optional<std::chrono::microseconds> first_job;
    std::string replug_failure;  ///< why there was no working GPU afterwards; empty: there was, or
                                 ///< nobody tried

    /// When the last of the clients ended; nothing: one has not, or there is none.
    std::optional<std::chrono::microseconds> clients_released() const;
};

/// What was found in the guest of a row that hung, or whose guest was looked into for another
/// reason.
struct Hang {
    std::string reason;
    std::vector<std::string> blocked{};  ///< who waits for what: the findings of tasks.txt
    std::string note{};                  ///< what could not be had, and why; empty: nothing
};

struct RowResult {
    std::string id;
    std::string name;  ///< the id without the attempt: what selects the row
    std::string expected_key;
    unsigned cycle = 0;    ///< from 1; 0: not repeated
    unsigned attempt = 0;  ///< from 1; 0: tried once
    std::string scenario_file;
    std::string description;
    std::vector<CheckResult> checks;
    std::string skip_reason;
    std::string quarantine;  ///< "until 2026-12-31: reason" of one that is Outcome::quarantined
    std::string started;     ///< UTC, ISO 8601
    std::vector<Episode> episodes;
    std::vector<TestResult> tests;        ///< that its shell steps reported
    std::vector<std::string> cut_output;  ///< steps that printed more than was kept
    KernelLogSummary kernel_log;
    std::chrono::milliseconds duration{0};
    /// Lies that a hostile device told; nothing: none was asked to.
    std::optional<uint64_t> mutations;
    std::map<std::string, SurfaceLies> lies{};  ///< by surface
    std::map<std::string, bool> reached{};      ///< did it come so far; by ShellStep::reaches
    bool fresh_boot = false;                    ///< the first row of its guest
    std::string unfit;   ///< why no other row may run on this guest; empty: one may
    std::string bundle;  ///< folder with everything about a failure; empty: none
    std::optional<Hang> hang{};
    Outcome outcome = Outcome::pass;

    const CheckResult* find(Check check) const;
};

/// UTC, ISO 8601: "2026-11-25T02:56:52Z".
std::string utc_text(std::time_t time);

/// What a run was made of: enough to repeat it.
struct RunInfo {
    uint64_t seed = 0;
    std::string kernel;   ///< release
    std::string flavour;  ///< "fast" or "debug": does the kernel have KASAN
    std::string profile;  ///< of the emulated GPU
    std::vector<std::string> command;
    std::map<std::string, std::string> versions;  ///< QEMU, emulator, images
    /// Debian packages by what is made of them: "name_version_architecture".
    std::map<std::string, std::vector<std::string>> packages;
    std::string started;  ///< UTC, ISO 8601
    std::chrono::milliseconds duration{0};
    std::string options_from;  ///< where the kernel's options were read; empty: nowhere
    unsigned boots = 0;
    bool interrupted = false;  ///< by Ctrl-C
    bool out_of_time = false;
    std::string error;  ///< why the harness could not go on; empty: it could
};

struct RunReport {
    RunInfo info;
    std::vector<RowResult> rows;
    Integrity integrity;
    std::vector<std::string> not_run{};  ///< ids; the first one may have been under way
};

struct Tally {
    unsigned passed = 0;  ///< rows, those with known failures included
    unsigned failed = 0;
    unsigned skipped = 0;
    unsigned quarantined = 0;
    unsigned known = 0;  ///< checks
};

/// Sets the outcome of each check and of the row.
void judge(RowResult& row, const ExpectedFailures& expected);

Tally tally(const std::vector<RowResult>& rows);

/// Of a run: its rows and its integrity. `error`: the harness could not do its part.
enum class RunVerdict { pass, fail, error };
RunVerdict verdict_of(const RunReport& report);
std::string_view to_string(RunVerdict verdict);

/// Nothing is held against the run but the rows that it had no time for.
bool only_out_of_time(const RunReport& report);

/// "12 passed, 1 failed, 0 skipped", how many rows are in quarantine or were not run, and how many
/// flaws the run itself has.
std::string closing_line(const RunReport& report);

/// One line for each check that is not a plain pass: "FAIL surprise/busy removed: did not return
/// ...", and some for a hang.
std::vector<std::string> explain(const RowResult& row);

}  // namespace hotplug
