// SPDX-License-Identifier: GPL-2.0
// Purpose: the pictures of a comparison and of rows by kernels, and that README's is that of the
// run it names. Thread: one.
#include "hotplug/report/picture.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "hotplug/report/report_for_test.h"

namespace hotplug {
namespace {

namespace fs = std::filesystem;

ComparedRun run(bool passed, std::string removed, std::string accesses) {
    ComparedRun made;
    made.checks = {{Check::removed, passed, std::move(removed)},
                   {Check::no_access, passed, std::move(accesses)}};
    return made;
}

ComparedRun skipped() {
    ComparedRun made;
    made.skip_reason = "no KASAN";
    return made;
}

TEST(Picture, OfAComparisonHasBothBarsOfARow) {
    Comparison comparison;
    comparison.before = {"<stock>", "7.3.4", "fast", "mi300x", "2026-11-22T08:11:12Z"};
    comparison.after = {"series", "7.3.4", "debug", "mi300x", "2026-11-23T00:00:00Z"};
    comparison.rows = {{"surprise/idle", run(false, "> 60.0 s", "390312"), run(true, "0.4 s", "0")},
                       {"skipped", skipped(), {}}};
    const std::string picture = format_picture(comparison);
    EXPECT_EQ(MarkupReader(picture).check(), "");
    EXPECT_TRUE(has(picture, ">not returned</text>"));
    EXPECT_TRUE(has(picture, "class=\"fail end\">&gt; 60.0 s</text>"));
    EXPECT_TRUE(has(picture, "class=\"fail end\">390,312</text>"));
    EXPECT_TRUE(has(picture, "class=\"soft end\">0.4 s</text>"));
    EXPECT_TRUE(has(picture, ">&lt;stock&gt;</text>"));
    EXPECT_TRUE(has(picture,
                    ">&lt;stock&gt; 7.3.4 (fast), run on 2026-11-22; series 7.3.4 (debug), run on "
                    "2026-11-23; mi300x</text>"));
    EXPECT_FALSE(has(picture, "http://www.w3.org/2000/svg\" href")) << "it fetches nothing";
}

TEST(Picture, OfKernelsHasACellForEach) {
    Matrix matrix;
    LoadedRun old;
    old.kernel.name = "6.12";
    old.rows = {{"surprise/idle", run(false, "never", "7")}, {"skipped", skipped()}};
    LoadedRun now;
    now.kernel.name = "7.3";
    now.rows = {{"surprise/idle", run(true, "0.4 s", "0")}};
    matrix.add(old);
    matrix.add(now);
    const std::string picture = format_picture(matrix);
    EXPECT_EQ(MarkupReader(picture).check(), "");
    EXPECT_TRUE(has(picture, ">✕ 2 checks</text>"));
    EXPECT_TRUE(has(picture, ">✓ 0.4 s</text>"));
    EXPECT_TRUE(has(picture, ">– skipped</text>"));
    EXPECT_TRUE(has(picture, ">– not run</text>"));
    EXPECT_TRUE(has(picture, ">fails up to 6.12, passes from 7.3 on</text>"));
}

TEST(ReadmePicture, IsThatOfTheRunInTheTree) {
    const fs::path kept = fs::path(HP_SOURCE_SCENARIOS) / "../../../Documentation/harness";
    const auto runs = load_comparison(kept / "compare.json");
    ASSERT_TRUE(runs) << runs.error().message;
    std::ifstream in(kept / "compare.svg");
    const std::string picture{std::istreambuf_iterator<char>(in), {}};
    EXPECT_TRUE(picture == format_picture(compare_runs((*runs)[0], (*runs)[1])))
        << "run scripts/readme-table";
}

}  // namespace
}  // namespace hotplug
