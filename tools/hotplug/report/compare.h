// SPDX-License-Identifier: GPL-2.0
// Purpose: two runs of the same rows beside each other, say the stock kernel and the patched one:
// what a table and README show of it. Knows nothing of lists of known failures: a check
// passed or it did not. Thread: pure functions.
#pragma once

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hotplug/judge/ktap_reader.h"
#include "hotplug/scenario/scenario.h"
#include "lib/result.h"

namespace hotplug {

struct ComparedCheck {
    Check check = Check::steps;
    bool passed = true;
    std::string value;
};

/// What a row did on one of the kernels.
struct ComparedRun {
    std::string skip_reason;
    std::vector<ComparedCheck> checks;
    /// The last fence of a client that failed, after the loss; see FailedFence.
    std::optional<double> fences_ms;
    std::vector<TestResult> tests;  ///< each name once, with its worst result

    bool passed() const;
    const ComparedCheck* find(Check check) const;
};

struct ComparedRow {
    std::string id;
    std::optional<ComparedRun> before;  ///< nothing: was not run there
    std::optional<ComparedRun> after;
};

struct ComparedKernel {
    std::string name;  ///< "stock"
    std::string release;
    std::string flavour;
    std::string profile;
    std::string started;
    /// What scripts/guest/kernel built it from: "stock", or the key of the series' code. Empty: it
    /// did not build it.
    std::string source{};
    std::vector<std::string> flaws{};  ///< of the run itself: what of its integrity failed it
};

/// One run by itself.
struct LoadedRun {
    struct Row {
        std::string id;
        ComparedRun run;
    };

    ComparedKernel kernel;
    std::vector<Row> rows;
    /// What it was read from: results.json, or what compare.json has kept of one.
    nlohmann::ordered_json results;
};

struct Comparison {
    ComparedKernel before;
    ComparedKernel after;
    std::vector<ComparedRow> rows;  ///< in the order of the first run, then of the second

    /// Rows that passed on the second kernel, and rows that did not or were not run there. Skipped
    /// ones are neither.
    unsigned passed() const;
    unsigned failed() const;
    /// The second run is what it looks like, and none of its rows failed.
    bool good() const { return failed() == 0 && after.flaws.empty(); }
};

/// The run that a results.json tells of, finished or not. Throws when it is none of this hpctl.
LoadedRun read_run(nlohmann::ordered_json results, std::string name);

/// A file results.json, or the folder it is in. A row that came several times (cycles) is there as
/// often. Fails for a run that is unfinished.
hp::Result<LoadedRun> load_run(const std::filesystem::path& path, std::string name);

/// A run that there is not, and why.
LoadedRun no_run(std::string name, std::string why);

/// A row that came several times is taken for each cycle.
Comparison compare_runs(const LoadedRun& before, const LoadedRun& after);

nlohmann::ordered_json to_json(const ComparedKernel& kernel);
/// null: was not run.
nlohmann::ordered_json to_json(const std::optional<ComparedRun>& run);
nlohmann::ordered_json to_json(const Comparison& comparison);
/// The two runs of a compare.json.
hp::Result<std::array<LoadedRun, 2>> load_comparison(const std::filesystem::path& file);

/// "stock 7.3.4 (fast)"
std::string kernel_text(const ComparedKernel& kernel);

/// "fails: removal returned 73.3 s, absent accesses 1303517 !"; failed checks are marked by what
/// stands around them: `open`, `close`.
std::string summarize(const std::optional<ComparedRun>& run, std::string_view open,
                      std::string_view close);

/// "fails: dmesg-warn" of the test of that name; it is marked like a check when it failed.
std::string summarize_test(const std::optional<ComparedRun>& run, const std::string& name,
                           std::string_view open, std::string_view close);

/// The names of a row's tests: in the order of the first run, then what only the second one has.
std::vector<std::string> test_names(const ComparedRow& row);

std::string format_table(const Comparison& comparison);
std::string format_markdown(const Comparison& comparison);

/// A cell of Markdown: it ends at a bar, and at a line's end.
std::string escape_cell(std::string text);

/// Lines of a text between which a table of ours stands.
inline constexpr std::string_view table_begin = "<!-- compare: begin -->";
inline constexpr std::string_view table_end = "<!-- compare: end -->";

/// `text` with `table` between the two markers; fails unless each is there once, in this order.
hp::Result<std::string> with_table(std::string_view text, std::string_view table);

}  // namespace hotplug
