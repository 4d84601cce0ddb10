// SPDX-License-Identifier: GPL-2.0
// Purpose: two runs beside each other: what is told of each, what counts as passed, and that the
// table in README is that of the run it names. Thread: one.
#include "hotplug/report/compare.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "hotplug/report/json_report.h"
#include "lib/temp_tree.h"

namespace hotplug {
namespace {

namespace fs = std::filesystem;

RowResult row(const std::string& id, std::vector<CheckResult> checks) {
    RowResult made;
    made.id = made.expected_key = id;
    made.checks = std::move(checks);
    return made;
}

CheckResult passed(Check check, std::string value) {
    return {.check = check, .value = std::move(value)};
}

CheckResult failed(Check check, std::string value) {
    return {.check = check, .passed = false, .value = std::move(value), .outcome = Outcome::known};
}

std::string text_of(const fs::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

class CompareTest : public testing::Test {
protected:
    CompareTest() {
        RunReport stock;
        stock.info.kernel = "7.3.4";
        stock.info.flavour = "fast";
        stock.info.profile = "mi300x";
        stock.info.started = "2026-01-01T00:00:00Z";
        RowResult skipped = row("debug-only", {});
        skipped.skip_reason = "needs a kernel with CONFIG_KASAN";
        stock.rows = {row("surprise/idle",
                          {failed(Check::removed, "73.3 s"), failed(Check::no_access, "1303517"),
                           passed(Check::replug, "1.4 s")}),
                      row("hang/drm", {failed(Check::removed, "never")}), skipped};
        RunReport series = stock;
        Episode episode;
        episode.fences = {{"a", std::chrono::milliseconds(12), -19},
                          {"b", std::chrono::milliseconds(31), -19}};
        series.rows = {
            row("surprise/idle", {passed(Check::removed, "0.9 s"), passed(Check::no_access, "1"),
                                  passed(Check::replug, "1.4 s")}),
            row("hang/drm",
                {passed(Check::removed, "0.4 s"), failed(Check::log_clean, "1 | 2\n complaints")}),
            skipped, row("new", {passed(Check::steps, "")})};
        series.rows[0].episodes = {episode};
        RowResult igt = row("igt/hotreplug", {failed(Check::steps, "")});
        igt.tests = {{"core@a", TestOutcome::fail, "dmesg-warn"},
                     {"core@a", TestOutcome::skip, "no ring"},
                     {"core@b", TestOutcome::skip, "no ring"}};
        stock.rows.push_back(igt);
        igt.checks = {passed(Check::steps, "")};
        igt.tests = {{"core@b", TestOutcome::skip, "no ring"},
                     {"core@a", TestOutcome::pass, ""},
                     {"core@c", TestOutcome::pass, ""}};
        series.rows.push_back(igt);
        tree_.file("stock/results.json", dump(to_json(stock)));
        tree_.file("series/results.json", dump(to_json(series)));
    }
    Comparison compared() const {
        const auto before = load_run(tree_.root() / "stock", "stock");
        const auto after = load_run(tree_.root() / "series/results.json", "series");
        EXPECT_TRUE(before && after);
        return before && after ? compare_runs(*before, *after) : Comparison{};
    }

    hp::TempTree tree_;
};

TEST_F(CompareTest, TellsFiguresAndMarksWhatFailed) {
    const Comparison both = compared();
    ASSERT_EQ(both.rows.size(), 5U);
    EXPECT_EQ(summarize(both.rows[0].before, "", " !"),
              "fails: removal returned 73.3 s !, absent accesses 1303517 !")
        << "a known failure is a failure";
    EXPECT_EQ(summarize(both.rows[0].after, "", " !"),
              "passes: removal returned 0.9 s, fences signalled 31 ms");
    EXPECT_EQ(summarize(both.rows[2].after, "", " !"), "skipped: needs a kernel with CONFIG_KASAN");
    EXPECT_EQ(summarize(both.rows[4].before, "", " !"), "not run");
    EXPECT_EQ(summarize(both.rows[4].after, "", " !"), "passes");
}

TEST_F(CompareTest, CountsTheSecondKernelsRows) {
    Comparison both = compared();
    EXPECT_EQ(both.passed(), 3U);
    EXPECT_EQ(both.failed(), 1U) << "the skipped row is neither";
    both.rows[0].after.reset();
    EXPECT_EQ(both.failed(), 2U) << "a row that was not run proves nothing";
}

TEST_F(CompareTest, MarkdownHasOneLineForEachRow) {
    EXPECT_EQ(
        format_markdown(compared()),
        "| row | stock 7.3.4 (fast) | series 7.3.4 (fast) |\n"
        "|---|---|---|\n"
        "| `surprise/idle` | fails: **removal returned 73.3 s**, **absent accesses 1303517** | "
        "passes: removal returned 0.9 s, fences signalled 31 ms |\n"
        "| `hang/drm` | fails: **removal returned never** | fails: removal returned 0.4 s, "
        "**kernel log 1 \\| 2  complaints** |\n"
        "| `debug-only` | skipped: needs a kernel with CONFIG_KASAN | skipped: needs a kernel "
        "with CONFIG_KASAN |\n"
        "| `igt/hotreplug` | fails: **steps** | passes |\n"
        "| &nbsp; `core@a` | **fails: dmesg-warn** | passes |\n"
        "| &nbsp; `core@b` | skipped: no ring | skipped: no ring |\n"
        "| &nbsp; `core@c` | not run | passes |\n"
        "| `new` | not run | passes |\n");
}

TEST_F(CompareTest, TestsOfARowAreShownEach) {
    const Comparison both = compared();
    EXPECT_EQ(test_names(both.rows[3]), (std::vector<std::string>{"core@a", "core@b", "core@c"}));
    EXPECT_EQ(summarize_test(both.rows[3].before, "core@a", "", " !"), "fails: dmesg-warn !")
        << "the worst of several";
    EXPECT_EQ(summarize_test(both.rows[3].after, "core@a", "", " !"), "passes");
    EXPECT_EQ(summarize_test(both.rows[3].after, "core@b", "", " !"), "skipped: no ring");
    EXPECT_EQ(summarize_test(both.rows[3].before, "core@c", "", " !"), "not run");
    EXPECT_EQ(summarize_test(std::nullopt, "core@a", "", " !"), "not run");
    EXPECT_TRUE(test_names(both.rows[0]).empty());
    EXPECT_NE(format_table(both).find("  core@a       stock   fails: dmesg-warn !\n"
                                      "               series  passes\n"),
              std::string::npos)
        << format_table(both);
}

TEST_F(CompareTest, JsonIsReadBack) {
    tree_.file("compare.json", dump(to_json(compared())));
    const auto runs = load_comparison(tree_.root() / "compare.json");
    ASSERT_TRUE(runs) << runs.error().message;
    const Comparison again = compare_runs((*runs)[0], (*runs)[1]);
    EXPECT_EQ(to_json(again), to_json(compared()));
    EXPECT_EQ(format_table(again), format_table(compared()));
    EXPECT_NE(format_table(again).find("series: 3 rows pass, 1 do not"), std::string::npos);
}

TEST_F(CompareTest, TellsWhatEachKernelWasBuiltFrom) {
    tree_.file("linux/build/.source", "6f5911379b4f\n");
    RunReport run;
    run.rows = {row("surprise/idle", {passed(Check::removed, "0.9 s")})};
    const fs::path build = tree_.root() / "linux/build";
    run.info.versions = {{"kernel image", (build / "arch/x86/boot/bzImage").string()}};
    tree_.file("ours/results.json", dump(to_json(run)));
    run.info.versions = {{"kernel image", (build / "vmlinuz").string()}};
    tree_.file("foreign/results.json", dump(to_json(run)));
    const LoadedRun ours = load_run(tree_.root() / "ours", "series").value();
    const Comparison made = compare_runs(load_run(tree_.root() / "foreign", "stock").value(), ours);
    EXPECT_EQ(made.before.source, "") << "an image without its tree";
    EXPECT_EQ(made.after.source, "6f5911379b4f");
    tree_.file("compare.json", dump(to_json(made)));
    const auto kept = load_comparison(tree_.root() / "compare.json");
    ASSERT_TRUE(kept) << kept.error().message;
    EXPECT_EQ((*kept)[1].kernel.source, "6f5911379b4f");
}

TEST_F(CompareTest, WhatIsNoRunIsNamed) {
    const auto none = load_run(tree_.root(), "a");
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().message,
              (tree_.root() / "results.json").string() + ": no JSON file can be read there");
    tree_.file("bad.json", "{\"rows\": []}");
    const auto bad = load_run(tree_.root() / "bad.json", "a");
    ASSERT_FALSE(bad);
    EXPECT_NE(bad.error().message.find("not the results of a run of this hpctl"),
              std::string::npos);
    EXPECT_FALSE(load_comparison(tree_.root() / "stock/results.json"));
}

TEST(ReadmeMarkers, TableStandsBetweenThem) {
    const std::string text = "a\n<!-- compare: begin -->\nold\n<!-- compare: end -->\nb\n";
    EXPECT_EQ(with_table(text, "new\n").value(),
              "a\n<!-- compare: begin -->\nnew\n<!-- compare: end -->\nb\n");
    EXPECT_FALSE(with_table("nothing", "new\n"));
    EXPECT_FALSE(with_table(text + text, "new\n"));
    EXPECT_FALSE(with_table("<!-- compare: end --><!-- compare: begin -->", "new\n"));
}

TEST(ReadmeTable, IsThatOfTheRunInTheTree) {
    const fs::path top = fs::path(HP_SOURCE_SCENARIOS) / "../../..";
    const fs::path kept = top / "Documentation/harness/compare.json";
    const std::string readme = text_of(top / "README.md");
    ASSERT_NE(readme, "");
    if (!fs::exists(kept)) {
        EXPECT_EQ(readme.find(table_begin), std::string::npos) << "a table of which run?";
        return;
    }
    const auto runs = load_comparison(kept);
    ASSERT_TRUE(runs) << runs.error().message;
    const Comparison run = compare_runs((*runs)[0], (*runs)[1]);
    const auto wanted = with_table(readme, format_markdown(run));
    ASSERT_TRUE(wanted) << wanted.error().message;
    EXPECT_EQ(readme, *wanted) << "run scripts/readme-table";
}

TEST_F(CompareTest, RunThatIsLessThanItsRowsSayIsNoGoodOne) {
    RunReport run;
    run.rows = {row("surprise/idle", {passed(Check::removed, "0.9 s")})};
    tree_.file("good/results.json", dump(to_json(run)));
    run.integrity.add(IntegrityKind::not_judged, "no CONFIG_KASAN");
    run.integrity.add(IntegrityKind::late_complaint, "WARNING in f", 1, "surprise/idle");
    tree_.file("late/results.json", dump(to_json(run)));
    const auto compared = [&](const char* before, const char* after) {
        return compare_runs(load_run(tree_.root() / before, "stock").value(),
                            load_run(tree_.root() / after, "series").value());
    };
    EXPECT_TRUE(compared("late", "good").good()) << "the first run's flaws are its own";
    const Comparison flawed = compared("good", "late");
    EXPECT_EQ(flawed.failed(), 0U);
    EXPECT_FALSE(flawed.good());
    const std::string said = "the run of series fails: late_complaint: WARNING in f";
    EXPECT_NE(format_table(flawed).find(said), std::string::npos);
    EXPECT_NE(format_markdown(flawed).find(said), std::string::npos);
    tree_.file("flawed.json", dump(to_json(flawed)));
    const auto kept = load_comparison(tree_.root() / "flawed.json");
    ASSERT_TRUE(kept);
    EXPECT_FALSE(compare_runs((*kept)[0], (*kept)[1]).good());

    run.integrity.add(IntegrityKind::unfinished, "1 of 2 rows are here");
    tree_.file("killed/results.json", dump(to_json(run)));
    const auto killed = load_run(tree_.root() / "killed", "series");
    ASSERT_FALSE(killed);
    EXPECT_NE(killed.error().message.find("1 of 2 rows are here"), std::string::npos);
}

}  // namespace
}  // namespace hotplug
