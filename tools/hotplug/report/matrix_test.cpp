// SPDX-License-Identifier: GPL-2.0
// Purpose: rows by kernels: what a cell says, and with which kernel a defect came or went.
// Thread: one.
#include "hotplug/report/matrix.h"

#include <gtest/gtest.h>

#include "hotplug/report/json_report.h"
#include "lib/temp_tree.h"

namespace hotplug {
namespace {

RowResult row(const std::string& id, bool passes) {
    RowResult made;
    made.id = made.expected_key = id;
    CheckResult check = {.check = Check::kfd_usable, .value = passes ? "yes" : "n|o"};
    check.passed = passes;
    check.outcome = passes ? Outcome::pass : Outcome::fail;
    made.checks = {check};
    return made;
}

class MatrixTest : public testing::Test {
protected:
    void run(const std::string& kernel, std::vector<RowResult> rows) {
        RunReport report;
        report.info.kernel = kernel + ".1";
        report.info.started = "2026-01-01T00:00:00Z";
        report.rows = std::move(rows);
        tree_.file(kernel + "/results.json", dump(to_json(report)));
        auto loaded = load_run(tree_.root() / kernel, kernel);
        ASSERT_TRUE(loaded);
        matrix_.add(*loaded);
    }

    hp::TempTree tree_;
    Matrix matrix_;
};

TEST_F(MatrixTest, SaysWithWhichKernelADefectCameOrWent) {
    run("6.12", {row("a", false), row("b", true), row("c", true)});
    run("6.17", {row("a", false), row("b", false), row("c", true)});
    matrix_.add(no_run("7.1", "no such kernel"));
    run("7.2", {row("a", true), row("b", false), row("c", true), row("new", false)});
    run("7.3", {row("a", true), row("b", true), row("c", true), row("new", false)});
    ASSERT_EQ(matrix_.rows.size(), 4U);
    EXPECT_EQ(history(matrix_, matrix_.rows[0]), "fails up to 6.17, passes from 7.2 on");
    EXPECT_EQ(history(matrix_, matrix_.rows[1]),
              "passes up to 6.12, fails from 6.17 to 7.2, passes from 7.3 on");
    EXPECT_EQ(history(matrix_, matrix_.rows[2]), "passes from 6.12 to 7.3");
    EXPECT_EQ(history(matrix_, matrix_.rows[3]), "fails from 7.2 to 7.3");
    EXPECT_EQ(matrix_.rows[3].runs.size(), 5U);
    EXPECT_FALSE(matrix_.rows[3].runs[0]);
    EXPECT_FALSE(matrix_.rows[0].runs[2]);
}

TEST_F(MatrixTest, SaysOnAllOnlyWhereAllJudged) {
    run("6.12", {row("a", false), row("b", true)});
    run("7.3", {row("a", false), row("b", true), row("new", false)});
    ASSERT_EQ(matrix_.rows.size(), 3U);
    EXPECT_EQ(history(matrix_, matrix_.rows[0]), "fails on all");
    EXPECT_EQ(history(matrix_, matrix_.rows[1]), "passes on all");
    EXPECT_EQ(history(matrix_, matrix_.rows[2]), "fails on 7.3");
}

TEST_F(MatrixTest, WhatWasNotJudgedIsNoVerdict) {
    RowResult skipped = row("a", true);
    skipped.skip_reason = "needs a kernel with CONFIG_KASAN";
    run("6.12", {skipped});
    EXPECT_EQ(history(matrix_, matrix_.rows[0]), "not judged");
    EXPECT_NE(format_table(matrix_).find("skipped: needs a kernel"), std::string::npos);
}

TEST_F(MatrixTest, EachFormatHasEachCell) {
    run("6.12", {row("a", false)});
    run("7.3", {row("a", true)});
    matrix_.add(no_run("7.9", "no <such> kernel"));
    EXPECT_EQ(format_table(matrix_),
              "a: fails up to 6.12, passes from 7.3 on\n"
              "  6.12  fails: /dev/kfd n|o\n"
              "  7.3   passes\n"
              "  7.9   not run\n"
              "the run on 7.9 fails: no <such> kernel\n");
    EXPECT_EQ(
        format_markdown(matrix_),
        "| row | 6.12 | 7.3 | 7.9 | |\n|---|---|---|---|---|\n"
        "| `a` | fails: /dev/kfd n\\|o | passes | not run | fails up to 6.12, passes from 7.3 "
        "on |\n"
        "\n**the run on 7.9 fails: no <such> kernel**\n");
    const auto json = to_json(matrix_);
    EXPECT_EQ(json["kernels"].size(), 3U);
    EXPECT_EQ(json["rows"][0]["runs"][0]["checks"][0]["passed"], false);
    EXPECT_TRUE(json["rows"][0]["runs"][2].is_null());
    EXPECT_EQ(json["rows"][0]["history"], "fails up to 6.12, passes from 7.3 on");
}

}  // namespace
}  // namespace hotplug
