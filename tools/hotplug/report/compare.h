// SPDX-License-Identifier: GPL-2.0
// Purpose: two runs of the same rows beside each other, say the stock kernel and the patched one:
// what a table, a page and README show of it. Knows nothing of lists of known failures: a check
// passed or it did not. Thread: pure functions.
#pragma once

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

/// A file results.json, or the folder it is in. A row that came several times (cycles) is there as
/// often. Fails for a run that is unfinished.
hp::Result<LoadedRun> load_run(const std::filesystem::path& path, std::string name);

/// Two files results.json, or the folders they are in. A row that came several times (cycles) is
/// taken for each cycle. Fails for a run that is unfinished.
hp::Result<Comparison> compare_runs(const std::filesystem::path& before, std::string before_name,
                                    const std::filesystem::path& after, std::string after_name);

nlohmann::ordered_json to_json(const ComparedKernel& kernel);
/// null: was not run.
nlohmann::ordered_json to_json(const std::optional<ComparedRun>& run);
nlohmann::ordered_json to_json(const Comparison& comparison);
hp::Result<Comparison> load_comparison(const std::filesystem::path& file);

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
/// Well-formed XML, too.
std::string format_html(const Comparison& comparison);

/// Lines of a text between which a table of ours stands.
inline constexpr std::string_view table_begin = "<!-- compare: begin -->";
inline constexpr std::string_view table_end = "<!-- compare: end -->";

/// `text` with `table` between the two markers; fails unless each is there once, in this order.
hp::Result<std::string> with_table(std::string_view text, std::string_view table);

}  // namespace hotplug
