// SPDX-License-Identifier: GPL-2.0
// Purpose: the page of one run, of two and of many kernels: that what matters is in it, that a
// guest cannot put markup there, and that it fetches nothing. scripts/test/page shows it to a
// browser. Thread: one.
#include "hotplug/report/page.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hotplug/report/json_report.h"
#include "hotplug/report/report_for_test.h"

namespace hotplug {
namespace {

size_t times(const std::string& page, std::string_view text) {
    size_t count = 0;
    for (size_t at = page.find(text); at != std::string::npos; at = page.find(text, at + 1)) {
        ++count;
    }
    return count;
}

LoadedRun loaded(const RunReport& report, const std::string& name) {
    return read_run(nlohmann::ordered_json::parse(dump(to_json(report))), name);
}

/// What report() did on stock, with checks as they are with a driver that is right.
RunReport good_report() {
    RunReport good = report();
    good.integrity = {};
    for (RowResult& row : good.rows) {
        row.kernel_log = {};
        row.bundle.clear();
        for (CheckResult& check : row.checks) {
            check = {.check = check.check,
                     .value = check.check == Check::removed ? "0.4 s" : "yes"};
        }
        row.outcome = row.skip_reason.empty() ? Outcome::pass : Outcome::skip;
        for (Episode& episode : row.episodes) {
            episode.loss.remove_returned = std::chrono::milliseconds(400);
        }
    }
    return good;
}

std::string two_runs() {
    RunReport stock = report();
    stock.rows[1].checks[0].value = "> 60.0 s";
    stock.rows[1].episodes[0].loss.remove_returned.reset();
    stock.rows[1].episodes[0].loss.given_up = std::chrono::seconds(60);
    stock.rows[1].episodes[0].clients[0].signal = SIGBUS;
    stock.rows[1].checks.push_back(
        {.check = Check::clients_released, .passed = false, .value = "8.2 s"});
    stock.rows[1].checks.push_back({.check = Check::no_access, .passed = false, .value = "390312"});
    RunReport series = good_report();
    series.rows[1].checks.push_back({.check = Check::no_access, .value = "24"});
    const LoadedRun runs[] = {loaded(stock, "stock"), loaded(series, "series")};
    return format_page(runs);
}

TEST(Page, IsWellFormedAndFetchesNothing) {
    for (const std::string& page : {format_page(report()), two_runs()}) {
        EXPECT_EQ(MarkupReader(page).check(), "");
        for (const char* reference :
             {"src=", "href=\"http", "url(", "@import", "<link", "fetch("}) {
            EXPECT_FALSE(has(page, reference)) << reference;
        }
    }
}

TEST(Page, GuestCannotPutMarkupThere) {
    for (const std::string& page : {format_page(report()), two_runs()}) {
        EXPECT_FALSE(has(page, "<img"));
        EXPECT_EQ(times(page, "</script>"), 1U) << "the page's own";
        EXPECT_TRUE(has(page, "&lt;/script&gt;&lt;img onerror=x&gt;"));
    }
}

TEST(Page, OfOneRunSaysWhatCameOfIt) {
    const std::string page = format_page(report());
    EXPECT_TRUE(has(page,
                    "Linux 7.3.4 fails <b>1 of 3</b> rows (besides 1 excused, 1 skipped): the "
                    "slowest removal takes <b>64.6 "
                    "s</b>."));
    EXPECT_TRUE(has(page, "This run failed."));
    EXPECT_TRUE(has(page,
                    "<li>The kernel complained between two rows or after the last one: "
                    "<code>after hang/busy: "));
    EXPECT_TRUE(has(page, "<h2>Not judged, and other notes</h2>"));
    EXPECT_TRUE(has(page, "<code>no CONFIG_KASAN: much is not found</code>"));
    EXPECT_TRUE(has(page, "<details class=\"row fails\" id=\"hang/busy\" open=\"open\">"));
    EXPECT_TRUE(has(page, "<details class=\"row fails\" id=\"surprise/idle\"><summary>"))
        << "a known failure waits for who asks";
    EXPECT_TRUE(has(page, "<span class=\"line known\">"));
    EXPECT_TRUE(has(page, "<p>Known: C12</p>"));
    EXPECT_TRUE(has(page, "skipped: needs a kernel with CONFIG_KASAN"));
    EXPECT_TRUE(has(page, "fence signalled 12.5 ms after the loss, with -19"));
    EXPECT_TRUE(has(page, "guest image: 2 Debian packages"));
    EXPECT_TRUE(has(page, "<summary>2 tests, 1 failed</summary>"));
    EXPECT_TRUE(has(page, "<li>suite.ring: skip, no ring</li>"));
    EXPECT_TRUE(has(page, "Run it again: <code>hpctl replay results/failed/hang-busy</code>"));
    EXPECT_TRUE(has(page, "<code>hpctl run slot-power/idle</code>")) << "what passed, too";
}

TEST(Page, HasCommandsForAShell) {
    RunReport run = report();
    run.info.command = {"run", "flagship", "--append", "a b"};
    run.info.duration = {};
    const std::string page = format_page(run);
    EXPECT_TRUE(has(page, "<code>hpctl run flagship --append &#39;a b&#39;</code>"));
    EXPECT_TRUE(has(page, "<code>hpctl run slot-power/idle --append &#39;a b&#39;</code>"));
    EXPECT_TRUE(has(page, "<dd>0 booted</dd>"))
        << "the run goes on: nobody knows how long it takes";
}

TEST(Page, OfOneRunHasTheTimeline) {
    const std::string page = format_page(report());
    EXPECT_TRUE(has(page, "<th scope=\"row\">kernel notified</th>"));
    EXPECT_TRUE(has(page, "<td class=\"num\">64.600 s</td>"));
    EXPECT_TRUE(has(page, "<td class=\"num\">0.040 s</td>")) << "the last fence";
    EXPECT_TRUE(has(page, "<td class=\"num fail\">not seen</td>")) << "the slot";
    EXPECT_TRUE(has(page, "<th scope=\"row\">nodes there</th>"));
}

TEST(Page, TellsWhoWaitsInAGuestThatHung) {
    RunReport run = report();
    run.rows[2].hang.emplace();
    run.rows[2].hang->reason = "the removal is stuck";
    run.rows[2].hang->blocked = {"kworker <1>", "in f"};
    EXPECT_TRUE(has(format_page(run),
                    "<p>Looked into: the removal is stuck.</p>\n"
                    "<pre>kworker &lt;1&gt;\nin f</pre>"));
}

TEST(Page, QuarantinedRowIsNoFailure) {
    RunReport run = report();
    run.rows[2].outcome = Outcome::quarantined;
    run.rows[2].quarantine = "until 2026-12-31: tracked";
    const std::string page = format_page(run);
    EXPECT_TRUE(has(page, "<span class=\"line quarantined\">"));
    EXPECT_TRUE(has(page, "<p>In quarantine until 2026-12-31: tracked</p>"));
    EXPECT_TRUE(has(page, "passes <b>1 of 3</b> rows (2 excused, 1 skipped)"));
}

TEST(Page, OfTwoRunsHasTheFiguresThatMatter) {
    const std::string page = two_runs();
    EXPECT_TRUE(has(
        page,
        "<h1>stock fails <b>2 of 3</b> rows (1 skipped): <b>1 removal does not return</b>, and an "
        "absent GPU is accessed <b>up to 390,312 times</b>; series passes <b>all 3</b> "
        "rows (1 skipped): the slowest removal takes <b>0.4 s</b>, and an absent GPU is accessed "
        "<b>up to 24 times</b>.</h1>"));
    EXPECT_TRUE(has(page,
                    "<i class=\"fail open\" style=\"width:100.0%\">not returned</i></span>"
                    "<span class=\"num fail\">&gt; 60.0 s</span>"));
    EXPECT_TRUE(has(page, "<span class=\"num fail\">390,312</span>"));
    EXPECT_TRUE(has(page, "<span class=\"broken\">client killed by SIGBUS</span>"));
    EXPECT_TRUE(has(page, "<details class=\"row fails differs\" id=\"surprise/idle\"><summary>"));
    EXPECT_TRUE(has(page, "<details class=\"row\" id=\"slot-power/idle\"><summary>"));
    EXPECT_EQ(times(page, "skipped: needs a kernel with CONFIG_KASAN"), 2U);
    EXPECT_TRUE(has(page, "<td class=\"num fail\">&gt; 60 s</td><td class=\"num\">0.400 s</td>"))
        << "both on one axis";
    EXPECT_TRUE(has(page, "<b>stock</b>: The kernel complained between two rows"));
}

TEST(Page, OfWhatWasKeptHasTheBars) {
    const LoadedRun stock = loaded(report(), "stock");
    const LoadedRun series = loaded(good_report(), "series");
    const auto kept = to_json(compare_runs(stock, series));
    // compare.json has no episodes, no evidence and no command.
    LoadedRun thin = stock;
    thin.results = {{"rows", nlohmann::ordered_json::array()}};
    for (const auto& row : kept["rows"]) {
        thin.results["rows"].push_back(row["before"]);
    }
    const std::string page = format_page({&thin, 1});
    EXPECT_EQ(MarkupReader(page).check(), "");
    EXPECT_TRUE(has(page, "<span class=\"num fail\">64.6 s</span>"));
    EXPECT_FALSE(has(page, "Run it again"));
}

TEST(Page, OfManyKernelsIsATable) {
    std::vector<LoadedRun> runs = {loaded(report(), "6.12"), loaded(report(), "6.17"),
                                   loaded(good_report(), "7.3")};
    runs.push_back(no_run("7.9", "no <such> kernel"));
    const std::string page = format_page(runs);
    EXPECT_EQ(MarkupReader(page).check(), "");
    EXPECT_TRUE(has(page,
                    "Of 4 rows on 4 kernels, <b>2</b> fail on some and pass on others; "
                    "<b>0</b> fail on all of them."));
    EXPECT_TRUE(has(page, "fails up to 6.17, passes from 7.3 on"));
    EXPECT_TRUE(has(page, "<span class=\"what\">6.17: </span>/dev/kfd unusable</span>"));
    EXPECT_TRUE(has(page, "<b>7.9</b>: no &lt;such&gt; kernel"));
    EXPECT_TRUE(has(page, "<span class=\"what\">7.9: </span>not run</span>"));
}

}  // namespace
}  // namespace hotplug
