// SPDX-License-Identifier: GPL-2.0
// Purpose: the reports: contents, escaping of what a guest may print, and well-formedness seen by a
// parser of its own. Thread: one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "hotplug/judge/findings.h"
#include "hotplug/report/html.h"
#include "hotplug/report/json_report.h"
#include "hotplug/report/junit.h"
#include "hotplug/report/ktap.h"
#include "hotplug/report/markup.h"
#include "hotplug/report/soak.h"
#include "hotplug/report/table.h"

namespace hotplug {
namespace {

constexpr const char* nasty = "<b a=\"1\">&'#\n\x01\xff]]> </pre>";

/// A minimal XML reader: knows tags, attributes, entities and text. Returns what is wrong; empty:
/// well-formed.
class MarkupReader {
public:
    explicit MarkupReader(std::string_view text) : rest_(text) {}

    std::string check() {
        while (!rest_.empty()) {
            const bool fine = rest_.starts_with('<') ? tag() : text();
            if (!fine) {
                return error_ + " at: " + std::string(rest_.substr(0, 40));
            }
        }
        return open_.empty() ? "" : "never closed: " + open_.back();
    }

private:
    bool wrong(std::string what) {
        error_ = std::move(what);
        return false;
    }
    std::string_view take_until(std::string_view end) {
        const size_t at = rest_.find(end);
        const std::string_view taken = rest_.substr(0, at);
        rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + end.size());
        return taken;
    }
    bool characters(std::string_view text) {
        for (size_t i = 0; i < text.size(); ++i) {
            const unsigned char c = static_cast<unsigned char>(text[i]);
            if (c < 0x20 && c != '\n' && c != '\t' && c != '\r') {
                return wrong("control character");
            }
            if (c == '&') {
                const std::string_view entity = text.substr(i, text.find(';', i) - i);
                if (entity != "&amp" && entity != "&lt" && entity != "&gt" && entity != "&quot" &&
                    entity != "&#39") {
                    return wrong("entity " + std::string(entity));
                }
            }
        }
        return true;
    }
    bool text() {
        const std::string_view content = rest_.substr(0, rest_.find('<'));
        rest_.remove_prefix(content.size());
        return characters(content);
    }
    bool tag() {
        rest_.remove_prefix(1);
        if (rest_.starts_with('?') || rest_.starts_with('!')) {
            take_until(">");
            return true;
        }
        const bool closing = rest_.starts_with('/');
        if (closing) {
            rest_.remove_prefix(1);
        }
        const std::string name = take_name();
        if (name.empty()) {
            return wrong("tag without name");
        }
        if (closing) {
            if (open_.empty() || open_.back() != name) {
                return wrong("unbalanced </" + name + ">");
            }
            open_.pop_back();
            return take_until(">").empty() || wrong("attributes in a closing tag");
        }
        return attributes(name);
    }
    std::string take_name() {
        size_t length = 0;
        while (length < rest_.size() &&
               (std::isalnum(static_cast<unsigned char>(rest_[length])) || rest_[length] == '-')) {
            ++length;
        }
        const std::string name(rest_.substr(0, length));
        rest_.remove_prefix(length);
        return name;
    }
    bool attributes(const std::string& name) {
        while (true) {
            while (rest_.starts_with(' ') || rest_.starts_with('\n')) {
                rest_.remove_prefix(1);
            }
            if (rest_.starts_with("/>")) {
                rest_.remove_prefix(2);
                return true;
            }
            if (rest_.starts_with('>')) {
                rest_.remove_prefix(1);
                open_.push_back(name);
                return true;
            }
            if (take_name().empty() || !rest_.starts_with("=\"")) {
                return wrong("attribute of <" + name + ">");
            }
            rest_.remove_prefix(2);
            const std::string_view value = take_until("\"");
            if (value.find('<') != std::string_view::npos || !characters(value)) {
                return wrong("value of an attribute of <" + name + ">");
            }
        }
    }

    std::string_view rest_;
    std::vector<std::string> open_;
    std::string error_;
};

RunReport report() {
    RunReport made;
    made.info.kernel = "7.3.4";
    made.info.flavour = "fast";
    made.info.seed = 7;
    made.info.command = {"run", "flagship"};
    made.info.versions = {{"QEMU", nasty}};
    made.info.packages = {{"guest image", {"busybox-static_1.37_amd64", nasty}}};
    made.info.duration = std::chrono::hours(1);

    RowResult good;
    good.id = good.expected_key = "slot-power/idle";
    good.description = "does it";
    good.checks = {{.check = Check::removed, .value = "1.1 s"}};

    RowResult known = good;
    known.id = known.expected_key = "surprise/idle";
    known.checks = {
        {.check = Check::removed, .passed = false, .value = "64.6 s", .evidence = {nasty}},
        {.check = Check::replug, .value = "3.0 s"}};
    Episode episode;
    episode.loss.loss = Loss::surprise;
    episode.loss.bdf = "0000:01:00.0";
    episode.loss.notified = std::chrono::milliseconds(50);
    episode.loss.remove_returned = std::chrono::milliseconds(64'600);
    episode.clients = {{.name = nasty}};
    episode.fences = {{"drm_submitter@victim", std::chrono::microseconds(12'500), -19},
                      {nasty, std::chrono::microseconds(40'000), -62}};
    // The black hole runs for minutes before the loss; what counts is the time since the loss.
    episode.loss.event = std::chrono::steady_clock::time_point(std::chrono::minutes(10));
    LateAccess late;
    late.time = episode.loss.event + std::chrono::milliseconds(250);
    late.name = nasty;
    episode.accesses.first = {late};
    episode.replug.emplace();
    episode.replug->ready = std::chrono::seconds(2);
    known.episodes = {episode};

    RowResult bad = good;
    bad.id = bad.expected_key = "hang/busy";
    bad.checks = {
        {.check = Check::kfd_usable, .passed = false, .value = "no", .evidence = {nasty}}};
    bad.kernel_log.complaints = {
        {.kind = ComplaintKind::kasan, .title = nasty, .lines = {nasty}, .stack = {"f"}}};
    bad.kernel_log.notes = {{nasty, 5, 2}};
    bad.bundle = "results/failed/hang-busy";
    known.tests = {{"suite.late", TestOutcome::fail, "timeout"},
                   {"suite.ring", TestOutcome::skip, "no ring"}};
    bad.tests = {{"suite.good", TestOutcome::pass}, {nasty, TestOutcome::fail, "late"}};

    RowResult skipped = good;
    skipped.id = skipped.expected_key = "debug-only";
    skipped.checks.clear();
    skipped.skip_reason = "needs a kernel with CONFIG_KASAN";

    made.rows = {good, known, bad, skipped};
    for (RowResult& row : made.rows) {
        judge(row, ExpectedFailures({{"surprise/idle", Check::removed, "C12", {nasty}}}));
    }
    made.integrity.add(IntegrityKind::late_complaint, nasty, 2, "hang/busy");
    made.integrity.add(IntegrityKind::not_judged, "no CONFIG_KASAN: much is not found");
    return made;
}

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
    EXPECT_NE(xml.find("tests=\"22\" failures=\"3\" errors=\"0\" skipped=\"3\""), std::string::npos)
        << "four rows, their four tests and 14 of the run itself; a known failure is none";
    EXPECT_NE(xml.find("classname=\"hang/busy\" name=\"suite.good\""), std::string::npos);
    EXPECT_NE(xml.find("<failure message=\"late\"/>"), std::string::npos);
    EXPECT_NE(xml.find("<skipped message=\"no ring\"/>"), std::string::npos);
    EXPECT_NE(xml.find("classname=\"hang\" name=\"hang/busy\""), std::string::npos);
    EXPECT_NE(xml.find("<failure message=\"fail\">"), std::string::npos);
    EXPECT_NE(xml.find("<testcase classname=\"integrity\" name=\"late_complaint\">\n    <failure "),
              std::string::npos);
    EXPECT_NE(xml.find("<skipped message=\"no CONFIG_KASAN: much is not found\"/>"),
              std::string::npos);
    EXPECT_NE(xml.find("<skipped message=\"needs a kernel with CONFIG_KASAN\"/>"),
              std::string::npos);
}

TEST(Html, IsWellFormedAndSelfContained) {
    const std::string html = format_html(report());
    EXPECT_EQ(MarkupReader(html).check(), "");
    for (const char* reference : {"src=", "href=\"http", "url(", "@import", "<script", "<link"}) {
        EXPECT_EQ(html.find(reference), std::string::npos) << reference;
    }
    EXPECT_NE(html.find("removal returned</text>"), std::string::npos);
    EXPECT_NE(html.find("64.600 s</text>"), std::string::npos);
    EXPECT_NE(html.find("not seen</text>"), std::string::npos);
    EXPECT_NE(html.find("fences signalled</text>"), std::string::npos);
    EXPECT_NE(html.find("0.040 s</text>"), std::string::npos) << "the last fence";
    EXPECT_NE(html.find("drm_submitter@victim: fence signalled 12.5 ms after the loss, with -19"),
              std::string::npos);
    EXPECT_NE(html.find("guest image: 2 Debian packages"), std::string::npos);
    EXPECT_NE(html.find("<summary>2 tests, 1 failed</summary>"), std::string::npos);
    EXPECT_NE(html.find("<li>suite.ring: <span class=\"skip\">skip</span>, no ring</li>"),
              std::string::npos);
    EXPECT_NE(html.find("hpctl replay results/failed/hang-busy"), std::string::npos);
    EXPECT_NE(html.find("<p class=\"fail\">This run failed.</p>"), std::string::npos);
    EXPECT_NE(html.find("<li class=\"fail\">The kernel complained between two rows or after the "
                        "last one: <code>guest 2, after hang/busy: "),
              std::string::npos);
    EXPECT_NE(html.find("<code>no CONFIG_KASAN: much is not found</code>"), std::string::npos);
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
    EXPECT_EQ(failed[4], "    1..14");
    const auto late = std::find(failed, sub.end(), "    not ok 4 late_complaint");
    ASSERT_NE(late, sub.end());
    EXPECT_TRUE(late[-1].starts_with("    # guest 2, after hang/busy: ")) << late[-1];
    EXPECT_EQ(late[1], "    ok 5 boot_failed");
    EXPECT_EQ(std::count(failed, sub.end(),
                         "    ok 13 not_judged # SKIP no CONFIG_KASAN: much is not found"),
              1);
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
    const auto soaks = summarize_soaks(rows);
    EXPECT_NE(format_soak(soaks.at(0)).find("  the device told 7 lies, none in 1 cycles\n"),
              std::string::npos);
    EXPECT_EQ(to_json(soaks.at(0)).at("mutations"), 7);
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
        run.rows[i].id = fmt::format("hostile-probe/firmware/{}", i + 1);
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
              "\n1 cycles: UBSAN: array-index-out-of-bounds in g\n    g\n    probe\n"
              "  in hostile-probe/firmware/1\n"
              "  hpctl run hostile-probe/firmware/1 --kernel /k --seed 7 --cycles 4\n");
    EXPECT_NE(format_table(run).find(format_findings(run)), std::string::npos);
    EXPECT_NE(format_html(run).find("with it, replug: refused after #.# s"), std::string::npos);
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
