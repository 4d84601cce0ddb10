// SPDX-License-Identifier: GPL-2.0
// Purpose: the reports: contents, escaping of what a guest may print, and well-formedness seen by a
// parser of its own. Thread: one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "hotplug/judge/findings.h"
#include "hotplug/report/json_report.h"
#include "hotplug/report/junit.h"
#include "hotplug/report/ktap.h"
#include "hotplug/report/markup.h"
#include "hotplug/report/page.h"
#include "hotplug/report/repeats.h"
#include "hotplug/report/report_for_test.h"
#include "hotplug/report/soak.h"
#include "hotplug/report/table.h"

namespace hotplug {
namespace {

TEST(MarkupReaderTest, SeesWhatIsWrong) {
    EXPECT_EQ(MarkupReader("<a b=\"c\"><d/>x&amp;y</a>").check(), "");
    EXPECT_NE(MarkupReader("<a><b></a></b>").check(), "");
    EXPECT_NE(MarkupReader("<a>x & y</a>").check(), "");
    EXPECT_NE(MarkupReader("<a b=\"<\"/>").check(), "");
    EXPECT_NE(MarkupReader("<a>\x01</a>").check(), "");
    EXPECT_NE(MarkupReader("<a>").check(), "");
}

TEST(Markup, EscapesMarkupAndReplacesWhatIsNoCharacter) {
    EXPECT_EQ(escape_markup("<a b='c'>&\"x\""), "&lt;a b=&#39;c&#39;&gt;&amp;&quot;x&quot;");
    EXPECT_EQ(escape_markup("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80\n"),
              "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80\n");
    const std::string replaced = "\xef\xbf\xbd";
    EXPECT_EQ(escape_markup("\x01"), replaced);
    EXPECT_EQ(escape_markup("\xff"), replaced);
    EXPECT_EQ(escape_markup("\xc3"), replaced) << "cut off";
    EXPECT_EQ(escape_markup("\xc0\x80"), replaced + replaced) << "overlong";
    EXPECT_EQ(escape_markup("\xed\xa0\x80"), replaced + replaced + replaced) << "surrogate";
}

TEST(Junit, IsWellFormedAndCounts) {
    const std::string xml = format_junit(report());
    EXPECT_EQ(MarkupReader(xml).check(), "");
    EXPECT_NE(xml.find("tests=\"25\" failures=\"3\" errors=\"0\" skipped=\"3\""), std::string::npos)
        << "four rows, their four tests and 17 of the run itself; a known failure is none";
    EXPECT_NE(xml.find("classname=\"hang/busy\" name=\"suite.good\""), std::string::npos);
    EXPECT_NE(xml.find("<failure message=\"late\" "), std::string::npos);
    EXPECT_NE(xml.find("<skipped message=\"no ring\"/>"), std::string::npos);
    EXPECT_NE(xml.find("classname=\"hang\" name=\"hang/busy\""), std::string::npos);
    EXPECT_NE(xml.find("<failure message=\"fail\" type=\"fail\">"), std::string::npos);
    EXPECT_NE(xml.find("<testcase classname=\"integrity\" name=\"late_complaint\" "
                       "time=\"0.000\">\n      <failure "),
              std::string::npos);
    EXPECT_NE(xml.find("<skipped message=\"no CONFIG_KASAN: much is not found\"/>"),
              std::string::npos);
    EXPECT_NE(xml.find("<skipped message=\"needs a kernel with CONFIG_KASAN\"/>"),
              std::string::npos);
}

std::vector<std::string> elements(const std::string& xml, const std::string& name) {
    std::vector<std::string> found;
    const std::string begin = "<" + name + " ";
    for (size_t at = xml.find(begin); at != std::string::npos; at = xml.find(begin, at + 1)) {
        found.push_back(xml.substr(at, xml.find('>', at) + 1 - at));
    }
    return found;
}

std::string attribute(const std::string& element, const std::string& name) {
    const std::string begin = " " + name + "=\"";
    const size_t at = element.find(begin);
    const size_t from = at + begin.size();
    return at == std::string::npos ? "" : element.substr(from, element.find('"', from) - from);
}

/// What GitLab and GitHub's actions want of it. GitLab shows the class as the suite, and drops one
/// of two test cases with the same class and name; a reader of `time` that finds none shows NaN.
TEST(Junit, HasWhatItsReadersWant) {
    RunReport made = report();
    made.info.started = "2026-11-25T02:56:52Z";
    made.not_run = {"probe", "silent-death/busy~2"};
    made.integrity.add(IntegrityKind::harness_fault, "the emulator ended with signal 6");
    made.rows[2].outcome = Outcome::quarantined;
    made.rows[2].quarantine = "until 2026-12-31: known & tracked";
    for (unsigned attempt : {1U, 2U}) {
        made.rows.push_back(made.rows[0]);
        made.rows.back().attempt = attempt;
        made.rows.back().id = fmt::format("slot-power/idle~{}", attempt);
    }
    made.rows.back().checks[0].passed = false;
    made.rows.back().checks[0].outcome = made.rows.back().outcome = Outcome::fail;
    const std::string xml = format_junit(made);
    EXPECT_EQ(MarkupReader(xml).check(), "");

    std::set<std::pair<std::string, std::string>> keys;
    const auto cases = elements(xml, "testcase");
    for (const std::string& one : cases) {
        EXPECT_NE(attribute(one, "name"), "") << one;
        EXPECT_NE(attribute(one, "classname"), "") << one;
        EXPECT_TRUE(keys.emplace(attribute(one, "classname"), attribute(one, "name")).second)
            << one;
        const std::string time = attribute(one, "time");
        size_t read = 0;
        EXPECT_GE(std::stod(time, &read), 0) << one;
        EXPECT_EQ(read, time.size()) << one;
    }
    const auto suites = elements(xml, "testsuites");
    const auto suite = elements(xml, "testsuite");
    ASSERT_EQ(suites.size() + suite.size(), 2U);
    for (const std::string& one : {suites[0], suite[0]}) {
        EXPECT_NE(attribute(one, "name"), "");
        EXPECT_EQ(attribute(one, "tests"), std::to_string(cases.size()));
        EXPECT_EQ(attribute(one, "failures"), std::to_string(elements(xml, "failure").size()));
        EXPECT_EQ(attribute(one, "errors"), std::to_string(elements(xml, "error").size()));
        EXPECT_EQ(attribute(one, "skipped"), std::to_string(elements(xml, "skipped").size()));
        EXPECT_EQ(attribute(one, "time"), "3600.000");
    }
    EXPECT_EQ(attribute(suite[0], "timestamp"), "2026-11-25T02:56:52");
    EXPECT_EQ(elements(xml, "error").size(), 1U);
    EXPECT_EQ(attribute(elements(xml, "error")[0], "message"),
              escape_markup(rule_of(IntegrityKind::harness_fault).meaning));
    EXPECT_NE(xml.find("classname=\"silent-death\" name=\"silent-death/busy~2\" time=\"0.000\">\n"
                       "      <skipped message=\"not run\"/>"),
              std::string::npos);
    EXPECT_NE(xml.find("<skipped message=\"failed, in quarantine until 2026-12-31: known &amp; "
                       "tracked\"/>\n      <system-out>quarantined hang/busy"),
              std::string::npos);
    EXPECT_NE(
        xml.find("<property name=\"failed tries of slot-power/idle\" value=\"slot-power/idle: "
                 "1 of 2 tries failed (50 %), flaky\"/>"),
        std::string::npos);
    EXPECT_NE(xml.find("<property name=\"kernel\" value=\"7.3.4\"/>"), std::string::npos);
}

TEST(Ktap, HasPlanSubtestsAndDirectives) {
    std::istringstream lines(format_ktap(report()));
    std::vector<std::string> top;
    std::vector<std::string> sub;
    for (std::string line; std::getline(lines, line);) {
        (line.starts_with("    ") ? sub : top).push_back(line);
        EXPECT_EQ(line.find('\r'), std::string::npos);
    }
    EXPECT_EQ(
        top,
        (std::vector<std::string>{
            "KTAP version 1", "1..5", "ok 1 slot-power/idle", "ok 2 surprise/idle",
            "not ok 3 hang/busy", "ok 4 debug-only # SKIP needs a kernel with CONFIG_KASAN",
            "not ok 5 integrity", "# 2 passed, 1 failed, 1 skipped; 1 flaw of the run itself"}));
    EXPECT_EQ(sub[0], "    KTAP version 1");
    EXPECT_EQ(sub[1], "    1..1");
    EXPECT_EQ(sub[2], "    ok 1 removed");
    EXPECT_EQ(sub[6], "    ok 1 removed # XFAIL C12");
    EXPECT_EQ(sub[7], "    ok 2 replug");
    EXPECT_EQ(sub[8], "    ok 3 suite.late # XFAIL timeout");
    EXPECT_EQ(sub[9], "    ok 4 suite.ring # SKIP no ring");
    const auto failed = std::find(sub.begin(), sub.end(), "    not ok 1 kfd_usable");
    ASSERT_GT(sub.end() - failed, 3);
    EXPECT_EQ(failed[1], "    ok 2 suite.good");
    EXPECT_TRUE(failed[2].starts_with("    not ok 3 ") && failed[2].ends_with(" # late"));
    EXPECT_EQ(failed[4], "    1..17");
    const auto late = std::find(failed, sub.end(), "    not ok 6 late_complaint");
    ASSERT_NE(late, sub.end());
    EXPECT_TRUE(late[-1].starts_with("    # guest 2, after hang/busy: ")) << late[-1];
    EXPECT_EQ(late[1], "    ok 7 boot_failed");
    EXPECT_EQ(std::count(failed, sub.end(),
                         "    ok 15 not_judged # SKIP no CONFIG_KASAN: much is not found"),
              1);
}

std::string contents(std::FILE* file) {
    std::string text(static_cast<size_t>(std::ftell(file)), '\0');
    std::rewind(file);
    EXPECT_EQ(std::fread(text.data(), 1, text.size(), file), text.size());
    return text;
}

struct Closed {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using TempFile = std::unique_ptr<std::FILE, Closed>;

TEST(Ktap, StreamsEachRowWhenItHasEnded) {
    const RunReport whole = report();
    const TempFile file(std::tmpfile());
    KtapStream stream(file.get());
    RunReport so_far = whole;
    so_far.rows.clear();
    ASSERT_TRUE(stream.advance(so_far, 4));
    EXPECT_EQ(contents(file.get()), "KTAP version 1\n1..5\n");
    for (const RowResult& row : whole.rows) {
        so_far.rows.push_back(row);
        ASSERT_TRUE(stream.advance(so_far, 4));
        const std::string text = contents(file.get());
        EXPECT_NE(text.find(fmt::format("ok {} {}", so_far.rows.size(), row.id)), std::string::npos)
            << text;
    }
    ASSERT_TRUE(stream.finish(whole));
    EXPECT_EQ(contents(file.get()), format_ktap(whole)) << "the same in pieces";
}

TEST(Ktap, RowsThatWereNotRunAreSkipsOfThePlan) {
    RunReport cut = report();
    cut.rows.resize(1);
    cut.not_run = {"surprise/idle", "hang/busy"};
    const std::string text = format_ktap(cut);
    EXPECT_EQ(text.find("KTAP version 1\n1..4\n"), 0U);
    EXPECT_NE(text.find("\nok 2 surprise/idle # SKIP not run\nok 3 hang/busy # SKIP not run\n"),
              std::string::npos);
    EXPECT_NE(text.find("\nnot ok 4 integrity\n"), std::string::npos);
    const TempFile file(std::tmpfile());
    KtapStream stream(file.get());
    ASSERT_TRUE(stream.finish(cut)) << "that ended before its first row did";
    EXPECT_EQ(contents(file.get()), text);
}

TEST(Ktap, RowThatFailsAtTheRunsEndFailsTheLastTest) {
    RunReport run = report();
    run.rows.resize(1);
    run.integrity = {};
    const TempFile file(std::tmpfile());
    KtapStream stream(file.get());
    ASSERT_TRUE(stream.advance(run, 1));
    run.rows[0].checks[0].outcome = run.rows[0].outcome = Outcome::fail;
    run.rows[0].checks[0].evidence = {"failed 9 of 9 times, on record are 1 of 18"};
    ASSERT_TRUE(stream.finish(run));
    const std::string text = contents(file.get());
    EXPECT_NE(text.find("\nok 1 slot-power/idle\n"), std::string::npos) << text;
    EXPECT_NE(text.find("    # FAIL slot-power/idle removed 1.1 s"), std::string::npos) << text;
    EXPECT_NE(text.find("failed 9 of 9 times"), std::string::npos) << text;
    EXPECT_NE(text.find("\nnot ok 2 integrity\n"), std::string::npos) << text;
}

TEST(Ktap, StreamThatNobodyReadsIsAnError) {
    const TempFile file(std::fopen("/dev/full", "w"));
    KtapStream stream(file.get());
    const auto told = stream.advance(report(), 4);
    ASSERT_FALSE(told);
    EXPECT_EQ(told.error().message, "cannot write KTAP: No space left on device");
}

TEST(Json, CanBeReadBackWhateverTheGuestPrinted) {
    const auto json = nlohmann::json::parse(dump(to_json(report())));
    EXPECT_EQ(json.at("passed"), 2);
    EXPECT_EQ(json.at("failed"), 1);
    EXPECT_EQ(json.at("known_failures"), 1);
    EXPECT_EQ(json.at("verdict"), "fail");
    ASSERT_EQ(json.at("integrity").size(), 2U);
    const auto& late_complaint = json.at("integrity").at(0);
    EXPECT_EQ(late_complaint.at("kind"), "late_complaint");
    EXPECT_EQ(late_complaint.at("severity"), "fail");
    EXPECT_EQ(late_complaint.at("guest"), 2);
    EXPECT_EQ(late_complaint.at("row"), "hang/busy");
    EXPECT_EQ(json.at("integrity").at(1).at("severity"), "note");
    EXPECT_EQ(json.at("seed"), 7);
    EXPECT_EQ(json.at("packages").at("guest image").at(0), "busybox-static_1.37_amd64");
    const auto& tests = json.at("rows").at(2).at("tests");
    EXPECT_EQ(tests.at(0),
              (nlohmann::json{{"test", "suite.good"}, {"outcome", "pass"}, {"note", ""}}));
    EXPECT_EQ(tests.at(1).at("outcome"), "fail");
    EXPECT_EQ(tests.at(1).at("note"), "late");
    const auto& known = json.at("rows").at(1);
    EXPECT_EQ(known.at("outcome"), "known");
    EXPECT_DOUBLE_EQ(known.at("episodes").at(0).at("remove_returned_s").get<double>(), 64.6);
    EXPECT_TRUE(known.at("episodes").at(0).at("device_deleted_s").is_null());
    const auto& fence = known.at("episodes").at(0).at("fences").at(0);
    EXPECT_EQ(fence,
              (nlohmann::json{
                  {"client", "drm_submitter@victim"}, {"signalled_ms", 12.5}, {"status", -19}}));
    const auto& late = known.at("episodes").at(0).at("accesses").at("first").at(0);
    EXPECT_DOUBLE_EQ(late.at("after_loss_s").get<double>(), 0.25);
}

TEST(Table, ShowsTheMatrixAndEndsWithTheClosingLine) {
    const std::string table = format_table(report());
    EXPECT_EQ(table.find("row"), 0U);
    EXPECT_NE(table.find("64.6 s *"), std::string::npos);
    EXPECT_NE(table.find("no !"), std::string::npos);
    EXPECT_NE(table.find("\n1 known failures:\n  surprise/idle removed: C12\n"), std::string::npos);
    EXPECT_NE(table.find("\nThe run itself:\n  fail  late_complaint: guest 2, after hang/busy: "),
              std::string::npos);
    EXPECT_NE(table.find("\n  note  not_judged: no CONFIG_KASAN: much is not found\n"),
              std::string::npos);
    EXPECT_TRUE(table.ends_with("\n2 passed, 1 failed, 1 skipped; 1 flaw of the run itself\n"));
    EXPECT_EQ(table.find("cycles per hour"), std::string::npos);
}

TEST(Table, TellsCyclesPerHour) {
    RunReport soak = report();
    soak.rows[0].cycle = 1;
    EXPECT_NE(format_table(soak).find("1 cycles per hour"), std::string::npos);
}

/// Two tries of a row, of which the second one failed, and one of a row in quarantine.
RunReport tries() {
    RunReport run = report();
    const RowResult good = run.rows[0];
    RowResult bad = run.rows[2];
    run.integrity = {};
    run.rows = {good, good, bad};
    for (unsigned i : {0U, 1U}) {
        run.rows[i].attempt = i + 1;
        run.rows[i].id = fmt::format("slot-power/idle~{}", i + 1);
    }
    run.rows[1].checks[0].passed = false;
    run.rows[1].checks[0].outcome = run.rows[1].outcome = Outcome::fail;
    run.rows[2].outcome = Outcome::quarantined;
    run.rows[2].quarantine = "until 2026-12-31: tracked";
    return run;
}

TEST(Repeats, TellHowManyTriesFailed) {
    const auto all = summarize_repeats(tries().rows);
    ASSERT_EQ(all.size(), 1U) << "rows that were tried once are left out";
    EXPECT_EQ(format_repeats(all[0]), "slot-power/idle: 1 of 2 tries failed (50 %), flaky");
    EXPECT_EQ(to_json(all[0]).dump(),
              R"({"row":"slot-power/idle","tries":2,"failed":1,"red":1,"rate":0.5,"flaky":true})");

    RunReport known = tries();
    known.rows[1].outcome = Outcome::known;
    EXPECT_EQ(format_repeats(summarize_repeats(known.rows)[0]),
              "slot-power/idle: 1 of 2 tries failed (50 %), flaky; 0 red");
    known.rows[0].outcome = Outcome::skip;
    EXPECT_EQ(format_repeats(summarize_repeats(known.rows)[0]),
              "slot-power/idle: 1 of 1 tries failed (100 %); 0 red")
        << "a try that was skipped is none";
}

TEST(Repeats, AreInEveryReport) {
    const RunReport run = tries();
    const std::string line = "slot-power/idle: 1 of 2 tries failed (50 %), flaky";
    for (const std::string& text :
         {format_ktap(run), format_junit(run), format_page(run), format_table(run)}) {
        EXPECT_NE(text.find(line), std::string::npos) << text;
    }
    EXPECT_EQ(to_json(run).at("repeats").at(0).at("failed"), 1);
    const auto second = to_json(run).at("rows").at(1);
    EXPECT_EQ(second.at("id"), "slot-power/idle~2");
    EXPECT_EQ(second.at("name"), "slot-power/idle");
    EXPECT_EQ(second.at("attempt"), 2);
}

TEST(QuarantinedRow, IsInEveryReportAndFailsNone) {
    RunReport run = tries();
    run.rows.erase(run.rows.begin() + 1);
    EXPECT_EQ(verdict_of(run), RunVerdict::pass);
    EXPECT_EQ(closing_line(run), "1 passed, 0 failed, 0 skipped, 1 in quarantine");
    const std::string ktap = format_ktap(run);
    EXPECT_NE(ktap.find("\nok 2 hang/busy # XFAIL in quarantine until 2026-12-31: tracked\n"),
              std::string::npos);
    EXPECT_NE(ktap.find("    ok 1 kfd_usable # XFAIL in quarantine until 2026-12-31: tracked\n"),
              std::string::npos);
    EXPECT_EQ(ktap.find("not ok"), std::string::npos);
    EXPECT_NE(format_page(run).find("<p>In quarantine until 2026-12-31: tracked</p>"),
              std::string::npos);
    EXPECT_NE(format_table(run).find("\nIn quarantine:\n  hang/busy until 2026-12-31: tracked\n"),
              std::string::npos);
    EXPECT_EQ(format_junit(run).find("<failure"), std::string::npos);
    EXPECT_EQ(to_json(run).at("rows").at(1).at("outcome"), "quarantined");
    EXPECT_EQ(to_json(run).at("rows").at(1).at("quarantine"), "until 2026-12-31: tracked");
    EXPECT_EQ(to_json(run).at("quarantined"), 1);
}

TEST(SoakSummary, AddsUpComplaintsChecksAndLostGuests) {
    std::vector<RowResult> rows(3, report().rows[0]);
    Complaint warning;
    warning.kind = ComplaintKind::warning;
    warning.title = "WARNING in f";
    warning.count = 2;
    for (size_t i = 0; i < rows.size(); ++i) {
        rows[i].expected_key = "cycles/idle";
        rows[i].cycle = static_cast<unsigned>(i) + 1;
        rows[i].episodes.resize(1);
        rows[i].episodes[0].first_job = std::chrono::seconds(3);
    }
    rows[1].kernel_log.complaints = {warning};
    rows[1].unfit = "the GPU is not back";
    rows[1].episodes[0].replug_failure = "refused";
    rows[1].checks = {{.check = Check::replug, .passed = false}};
    rows[2].kernel_log.complaints = {warning};
    rows.push_back(report().rows[0]);  // no cycle
    const auto soaks = summarize_soaks(rows);
    ASSERT_EQ(soaks.size(), 1U);
    EXPECT_EQ(format_soak(soaks[0]),
              "cycles/idle: 3 cycles, 2 ended with a GPU that works, guest given up after 1\n"
              "  times  cycles  first  kind             complaint\n"
              "      4       2      2  warning          WARNING in f\n"
              "  check replug failed in 1 cycles\n"
              "  guest given up after cycle 2: the GPU is not back\n");
    const auto json = to_json(soaks[0]);
    EXPECT_EQ(json.at("complaints").at(0).at("first_cycle"), 2);
    EXPECT_EQ(json.at("lost_guests").at(0).at("after_cycle"), 2);
}

TEST(SoakSummary, TellsHowOftenAHostileDeviceLied) {
    std::vector<RowResult> rows(3, report().rows[0]);
    for (size_t i = 0; i < rows.size(); ++i) {
        rows[i].expected_key = "hostile-probe/firmware";
        rows[i].cycle = static_cast<unsigned>(i) + 1;
    }
    EXPECT_EQ(format_soak(summarize_soaks(rows).at(0)).find("lies"), std::string::npos);
    rows[0].mutations = 5;
    rows[1].mutations = 0;
    rows[2].mutations = 2;
    rows[0].reached = {{"bound", true}};
    rows[1].reached = {{"bound", false}};
    const auto soaks = summarize_soaks(rows);
    EXPECT_NE(format_soak(soaks.at(0))
                  .find("  the device told 7 lies, none in 1 cycles\n"
                        "  bound: reached in 1 of 3 cycles\n"),
              std::string::npos);
    EXPECT_EQ(to_json(soaks.at(0)).at("mutations"), 7);
    EXPECT_EQ(to_json(soaks.at(0)).at("reached").dump(), R"({"bound":1})");
    EXPECT_EQ(to_json(soaks.at(0)).at("honest_cycles"), 1);
}

/// Cycles 1 to 4 of a row: two with one defect, one with another, one good.
RunReport failed_cycles() {
    RunReport run;
    run.info.command = {"run", "hostile", "--kernel", "/k", "--seed", "7", "--cycles", "4"};
    run.rows.assign(4, report().rows[0]);
    const auto fail = [](RowResult& row, const char* title, std::vector<std::string> stack) {
        row.outcome = Outcome::fail;
        Complaint complaint;
        complaint.title = title;
        complaint.stack = std::move(stack);
        row.kernel_log.complaints = {complaint};
        row.checks = {{.check = Check::log_clean, .passed = false, .evidence = {title}}};
    };
    for (size_t i = 0; i < run.rows.size(); ++i) {
        run.rows[i].cycle = static_cast<unsigned>(i) + 1;
        run.rows[i].id = run.rows[i].name = fmt::format("hostile-probe/firmware/{}", i + 1);
    }
    fail(run.rows[0], "UBSAN: array-index-out-of-bounds in g", {"g", "probe"});
    fail(run.rows[1], "KASAN: slab-out-of-bounds in f", {"f", "probe"});
    fail(run.rows[3], "KASAN: slab-out-of-bounds in f", {"f", "probe"});
    run.rows[3].checks.push_back(
        {.check = Check::replug, .passed = false, .evidence = {"refused after 60.0 s"}});
    return run;
}

TEST(Findings, AreGroupedByStackAndEachHasItsReplay) {
    const RunReport run = failed_cycles();
    EXPECT_EQ(format_findings(run),
              "3 cycles failed, in 2 groups:\n"
              "\n2 cycles: KASAN: slab-out-of-bounds in f\n    f\n    probe\n"
              "  with it, replug: refused after #.# s\n"
              "  in hostile-probe/firmware/2 hostile-probe/firmware/4\n"
              "  hpctl run hostile-probe/firmware/2 --kernel /k --seed 7 --cycles 4\n"
              "\n1 cycle: UBSAN: array-index-out-of-bounds in g\n    g\n    probe\n"
              "  in hostile-probe/firmware/1\n"
              "  hpctl run hostile-probe/firmware/1 --kernel /k --seed 7 --cycles 4\n");
    EXPECT_NE(format_table(run).find(format_findings(run)), std::string::npos);
    EXPECT_NE(format_page(run).find("with it, replug: refused after #.# s"), std::string::npos);
    const auto findings = to_json(run).at("findings");
    ASSERT_EQ(findings.size(), 2U);
    EXPECT_EQ(findings.at(0).at("stack"), (nlohmann::ordered_json{"f", "probe"}));
    EXPECT_EQ(findings.at(0).at("rows").size(), 2U);
    EXPECT_EQ(findings.at(0).at("replay"),
              "hpctl run hostile-probe/firmware/2 --kernel /k --seed 7 --cycles 4");
}

TEST(Findings, AreThoseOfCyclesThatFailed) {
    RunReport run = failed_cycles();
    for (RowResult& row : run.rows) {
        row.outcome = Outcome::known;
    }
    EXPECT_EQ(format_findings(run), "");
    run = failed_cycles();
    for (RowResult& row : run.rows) {
        row.cycle = 0;
    }
    EXPECT_EQ(format_findings(run), "");
    EXPECT_TRUE(to_json(run).at("findings").empty());
}

TEST(SoakSummary, TellsTheWaysOfLossApart) {
    std::vector<RowResult> rows(3, report().rows[0]);
    for (size_t i = 0; i < rows.size(); ++i) {
        rows[i].expected_key = "mixed-cycles/drm";
        rows[i].cycle = static_cast<unsigned>(i) + 1;
        rows[i].episodes.resize(1);
        rows[i].episodes[0].loss.loss = i == 0 ? Loss::hang : Loss::surprise;
    }
    rows[2].checks = {{.check = Check::removed, .passed = false}};
    const auto soaks = summarize_soaks(rows);
    ASSERT_EQ(soaks.size(), 1U);
    const std::string text = format_soak(soaks[0]);
    EXPECT_NE(text.find("  surprise           2 cycles, 1 with a check that failed\n"
                        "  hang               1 cycles, 0 with a check that failed\n"),
              std::string::npos)
        << text;
    EXPECT_EQ(to_json(soaks[0]).at("losses").at("surprise").at("cycles"), 2);
}

}  // namespace
}  // namespace hotplug
