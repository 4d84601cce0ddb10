// SPDX-License-Identifier: GPL-2.0
// Purpose: verdicts with and without known failures, and the list of known failures itself.
// Thread: one.
#include "hotplug/judge/verdict.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "hotplug/judge/expected_update.h"
#include "hotplug/scenario/catalogue.h"
#include "lib/temp_tree.h"

namespace hotplug {
namespace {

RowResult row(std::string id, std::vector<CheckResult> checks) {
    RowResult made;
    made.id = id;
    made.expected_key = id;
    made.checks = std::move(checks);
    return made;
}

CheckResult passed(Check check) {
    return {.check = check};
}

CheckResult failed(Check check, std::vector<std::string> evidence = {"e"}) {
    return {.check = check, .passed = false, .evidence = std::move(evidence)};
}

using Rate = std::optional<FailureRate>;

const Rate race = FailureRate{5, 10, "who is first"};

ExpectedFailures known(Rate sometimes = {}, std::vector<std::string> matching = {"e"}) {
    return ExpectedFailures(
        {{"r", Check::removed, "C5", std::move(matching), std::move(sometimes)}});
}

Outcome judged(RowResult made, const ExpectedFailures& expected) {
    judge(made, expected);
    return made.outcome;
}

TEST(Verdict, AllChecksMustPass) {
    EXPECT_EQ(judged(row("r", {passed(Check::removed), passed(Check::replug)}), {}), Outcome::pass);
    EXPECT_EQ(judged(row("r", {passed(Check::removed), failed(Check::replug)}), {}), Outcome::fail);
}

TEST(Verdict, KnownFailureIsKnownAndItsAbsenceIsRed) {
    EXPECT_EQ(judged(row("r", {failed(Check::removed)}), known()), Outcome::known);
    EXPECT_EQ(judged(row("r", {passed(Check::removed)}), known()), Outcome::fixed);
    EXPECT_EQ(judged(row("other", {failed(Check::removed)}), known()), Outcome::fail);
    EXPECT_EQ(judged(row("r", {failed(Check::replug)}), known()), Outcome::fail);
}

TEST(Verdict, FailureOfARaceMayStayAway) {
    EXPECT_EQ(judged(row("r", {passed(Check::removed)}), known(race)), Outcome::pass);
    EXPECT_EQ(judged(row("r", {failed(Check::removed)}), known(race)), Outcome::known);
}

TEST(Verdict, NewEvidenceInAKnownFailureIsRed) {
    const auto expected = known({}, {"WARNING in a"});
    EXPECT_EQ(judged(row("r", {failed(Check::removed, {"[1] WARNING in a"})}), expected),
              Outcome::known);
    EXPECT_EQ(
        judged(row("r", {failed(Check::removed, {"[1] WARNING in a", "KASAN in b"})}), expected),
        Outcome::fail);
}

TEST(Verdict, RaceThatNeverShowsOrAlwaysIsRed) {
    std::vector<RowResult> rows;
    const auto judge_all = [&](unsigned failures, unsigned passes) {
        rows.assign(failures, row("r", {failed(Check::removed)}));
        rows.insert(rows.end(), passes, row("r", {passed(Check::removed)}));
        for (RowResult& each : rows) {
            judge(each, known(FailureRate{9, 18, "who is first"}));
        }
        judge_rates(rows, known(FailureRate{9, 18, "who is first"}));
        return rows.back().outcome;
    };
    EXPECT_EQ(judge_all(10, 10), Outcome::pass);
    EXPECT_EQ(judge_all(0, 5), Outcome::pass) << "too few tries to tell";
    EXPECT_EQ(judge_all(0, 40), Outcome::fixed);
    EXPECT_EQ(rows.front().outcome, Outcome::pass) << "told once, in the last row";
    EXPECT_EQ(judge_all(40, 0), Outcome::fail);
    EXPECT_EQ(rows.back().checks[0].evidence.back(),
              "failed 40 of 40 times, on record are 9 of 18: who is first");
    rows.back().outcome = Outcome::skip;
    judge_rates(rows, known());
    EXPECT_EQ(rows.front().outcome, Outcome::known) << "no race, no rate";
}

TEST(FailureRate, IsContradictedByMuchOnly) {
    const FailureRate rare = {1, 100, "r"}, often = {99, 100, "r"}, unknown = {1, 2, "r"};
    EXPECT_FALSE(rare.contradicts(1, 10));
    EXPECT_TRUE(rare.contradicts(8, 10));
    EXPECT_FALSE(often.contradicts(9, 10));
    EXPECT_TRUE(often.contradicts(2, 10));
    EXPECT_FALSE(unknown.contradicts(0, 50)) << "two tries say nothing";
    EXPECT_FALSE(unknown.contradicts(0, 0));
}

TEST(Verdict, UnexpectedFailureOutweighsKnownOnes) {
    EXPECT_EQ(judged(row("r", {failed(Check::removed), failed(Check::replug)}), known()),
              Outcome::fail);
}

TEST(Verdict, TallyCountsRowsAndKnownChecks) {
    std::vector<RowResult> rows = {row("r", {failed(Check::removed)}), row("s", {}),
                                   row("t", {failed(Check::replug)}), row("u", {})};
    rows[3].skip_reason = "no KASAN";
    for (RowResult& each : rows) {
        judge(each, known());
    }
    const Tally sum = tally(rows);
    EXPECT_EQ(sum.passed, 2U);
    EXPECT_EQ(sum.failed, 1U);
    EXPECT_EQ(sum.skipped, 1U);
    EXPECT_EQ(sum.known, 1U);
    RunReport report = {{}, rows, {}};
    EXPECT_EQ(closing_line(report), "2 passed, 1 failed, 1 skipped");
    report.integrity.add(IntegrityKind::late_complaint, "WARNING in f");
    EXPECT_EQ(closing_line(report), "2 passed, 1 failed, 1 skipped; 1 flaw of the run itself");
}

TEST(Verdict, GoodRowsDoNotMakeAGoodRunAlone) {
    RunReport report;
    report.rows = {row("s", {passed(Check::replug)})};
    EXPECT_EQ(verdict_of(report), RunVerdict::pass);
    for (const IntegrityRule& rule : integrity_rules()) {
        RunReport flawed = report;
        flawed.integrity.add(rule.kind, "it happened");
        const RunVerdict expected = rule.severity == Severity::note   ? RunVerdict::pass
                                    : rule.severity == Severity::fail ? RunVerdict::fail
                                                                      : RunVerdict::error;
        EXPECT_EQ(verdict_of(flawed), expected) << rule.name;
    }
    report.rows[0].outcome = Outcome::fail;
    EXPECT_EQ(verdict_of(report), RunVerdict::fail);
    report.integrity.add(IntegrityKind::harness_fault, "the emulator ended with signal 6");
    EXPECT_EQ(verdict_of(report), RunVerdict::error);
}

TEST(Verdict, ExplanationNamesCheckReasonAndEvidence) {
    RowResult made = row("r", {failed(Check::removed, {"did not return"}), passed(Check::replug)});
    judge(made, known());
    EXPECT_EQ(explain(made),
              std::vector<std::string>{"known r removed (C5)\n      did not return"});
    made.skip_reason = "one GPU";
    judge(made, known());
    EXPECT_EQ(explain(made), std::vector<std::string>{"skip r: one GPU"});
}

TEST(Expected, SurvivesItsOwnFile) {
    const auto read = ExpectedFailures::parse(known(race, {"x"}).to_json(), "e.json");
    ASSERT_TRUE(read) << read.error().message;
    const ExpectedFailure* failure = read->find("r", Check::removed);
    ASSERT_NE(failure, nullptr);
    EXPECT_EQ(failure->reason, "C5");
    ASSERT_TRUE(failure->sometimes);
    EXPECT_EQ(failure->sometimes->failed, 5U);
    EXPECT_EQ(failure->sometimes->of, 10U);
    EXPECT_EQ(failure->sometimes->race, "who is first");
    EXPECT_EQ(failure->matching, std::vector<std::string>{"x"});
}

TEST(Expected, ErrorsNameTheEntry) {
    const auto error = [](const char* text) {
        const auto read = ExpectedFailures::parse(text, "e.json");
        return read ? "no error" : read.error().message;
    };
    EXPECT_EQ(error("{}"), "e.json: expected a JSON list of known failures");
    EXPECT_EQ(error("[").find("e.json:1:2: syntax error"), 0U);
    EXPECT_EQ(error(R"([{"row": "a", "check": "removed", "reason": "r", "row": "b"}])"),
              "e.json: /0/row: named a second time");
    EXPECT_EQ(error("[1]"), "e.json: /0: expected an object");
    EXPECT_EQ(error(R"([{"row": "a", "check": "removed"}])"),
              "e.json: /0: member 'reason' is missing");
    EXPECT_EQ(error(R"([{"row": "a", "check": "removed", "reason": "r"}])"),
              "e.json: /0: member 'matching' is missing");
    EXPECT_EQ(error(R"([{"row": "a", "check": "nope", "reason": "r", "matching": ["m"]}])"),
              "e.json: /0: no such check 'nope'");
    const auto entry = [&](const std::string& more) {
        const std::string one =
            R"({"row": "a", "check": "removed", "reason": "r", "matching": ["m"])";
        return error((std::string("[") + one + more + "]").c_str());
    };
    EXPECT_EQ(entry("}"), "no error");
    EXPECT_EQ(entry(R"(, "sometimes": {"failed": 1, "of": 2, "race": "why"}})"), "no error");
    EXPECT_EQ(entry(R"(, "sometimes": true})").find("e.json: /0: member 'sometimes' must be"), 0U);
    EXPECT_EQ(entry(R"(, "sometimes": {"failed": 1, "of": 2, "race": ""}})")
                  .find("e.json: /0: member 'sometimes' must be"),
              0U);
    for (const char* counts : {"3, \"of\": 2", "0, \"of\": 2", "-1, \"of\": 2"}) {
        EXPECT_EQ(entry(std::string(R"(, "sometimes": {"race": "w", "failed": )") + counts + "}}"),
                  "e.json: /0: member 'sometimes': failed must be from 1 to of");
    }
    EXPECT_EQ(entry(R"(}, {"row": "a", "check": "removed", "reason": "s", "matching": ["n"]})"),
              "e.json: /1: 'a' has an entry for 'removed' already");
    EXPECT_EQ(
        error(R"([{"row": 1}])").find("e.json: /0: member 'row' is not allowed or of the wrong"),
        0U);
    EXPECT_EQ(error(R"([{"matching": [1]}])").find("e.json: /0: member 'matching'"), 0U);
    EXPECT_EQ(error(R"([{"matching": []}])").find("e.json: /0: member 'matching'"), 0U)
        << "it would take any evidence";
    EXPECT_EQ(error(R"([{"matching": [""]}])").find("e.json: /0: member 'matching'"), 0U);
}

TEST(Expected, UpdateKeepsReasonsAndRowsThatDidNotRun) {
    const ExpectedFailures old({{"r", Check::removed, "C5", {"e"}},
                                {"r", Check::replug, "gone now", {"e"}},
                                {"r", Check::no_leak, "race", {"e"}, race},
                                {"elsewhere", Check::removed, "kept", {"e"}}});
    RowResult made =
        row("r", {failed(Check::removed), passed(Check::replug), passed(Check::no_leak),
                  failed(Check::log_clean, {"[1] WARNING in f"})});
    made.kernel_log.complaints = {
        {.kind = ComplaintKind::warning, .title = "WARNING in f", .lines = {}, .stack = {}}};
    const ExpectedFailures fresh = updated(old, {made});
    ASSERT_NE(fresh.find("r", Check::removed), nullptr);
    EXPECT_EQ(fresh.find("r", Check::removed)->reason, "C5");
    EXPECT_EQ(fresh.find("r", Check::replug), nullptr);
    ASSERT_NE(fresh.find("r", Check::no_leak), nullptr)
        << "a race that did not show is still known";
    EXPECT_EQ(fresh.find("r", Check::no_leak)->sometimes->failed, 5U);
    EXPECT_EQ(fresh.find("r", Check::no_leak)->sometimes->of, 11U);
    EXPECT_NE(fresh.find("elsewhere", Check::removed), nullptr);
    ASSERT_NE(fresh.find("r", Check::log_clean), nullptr);
    EXPECT_EQ(fresh.find("r", Check::log_clean)->matching,
              std::vector<std::string>{"WARNING in f"});
    judge(made, fresh);
    EXPECT_EQ(made.outcome, Outcome::known) << "an updated list explains the run it came from";
}

TEST(Expected, CheckThatFailsInSomeCyclesOnlyIsARace) {
    RowResult one = row("c/1", {failed(Check::removed)});
    RowResult two = row("c/2", {passed(Check::removed)});
    one.expected_key = two.expected_key = "c";
    const ExpectedFailures fresh = updated({}, {one, two});
    ASSERT_NE(fresh.find("c", Check::removed), nullptr);
    const ExpectedFailure& race = *fresh.find("c", Check::removed);
    ASSERT_TRUE(race.sometimes);
    EXPECT_EQ(race.sometimes->failed, 1U);
    EXPECT_EQ(race.sometimes->of, 2U);
    const auto more = updated(fresh, {one, one});
    EXPECT_EQ(more.find("c", Check::removed)->sometimes->failed, 3U) << "counts are added up";
    EXPECT_EQ(more.find("c", Check::removed)->sometimes->of, 4U);
}

TEST(Expected, NewEntryLooksForWhatHasNoFigures) {
    const auto fresh = updated(
        {}, {row("r", {failed(Check::removed,
                              {"returned after 64.0 s, allowed are 3.0 s", "12 is refused"})})});
    ASSERT_NE(fresh.find("r", Check::removed), nullptr);
    EXPECT_EQ(fresh.find("r", Check::removed)->matching,
              (std::vector<std::string>{" s, allowed are ", " is refused"}));
}

TEST(Expected, ListsOfThisTreeAreOfItsRows) {
    const std::filesystem::path scenarios = HP_SOURCE_SCENARIOS;
    const auto catalogue = ScenarioCatalogue::load(scenarios);
    ASSERT_TRUE(catalogue) << catalogue.error().message;
    std::vector<std::string> all;
    for (const Scenario& scenario : catalogue->scenarios()) {
        all.push_back(scenario.id);
    }
    const auto rows = catalogue->select(all, {});
    ASSERT_TRUE(rows) << rows.error().message;
    std::map<std::string, std::set<Check>> judged;
    for (const Row& row : *rows) {
        std::set<Check>& checks = judged[row.expected_key()];
        const Scenario& scenario = *row.scenario;
        checks.insert(scenario.checks.begin(), scenario.checks.end());
        for (const Step& step : row.steps()) {
            if (const auto* expect = std::get_if<ExpectStep>(&step)) {
                checks.insert(expect->checks.begin(), expect->checks.end());
            }
        }
    }
    unsigned lists = 0;
    for (const auto& file : std::filesystem::directory_iterator(scenarios / "expected")) {
        const auto list = ExpectedFailures::load(file.path());
        ASSERT_TRUE(list) << list.error().message;
        ++lists;
        for (const ExpectedFailure& entry : list->failures()) {
            const auto checks = judged.find(entry.row);
            ASSERT_NE(checks, judged.end()) << file.path() << ": no row " << entry.row;
            EXPECT_TRUE(info(entry.check).use == CheckUse::implicit ||
                        checks->second.contains(entry.check))
                << file.path() << ": " << entry.row << " is not judged by "
                << to_string(entry.check);
        }
    }
    EXPECT_GE(lists, 2U);
}

TEST(Expected, ExactReleaseGoesBeforeVersion) {
    const hp::TempTree tree;
    const std::filesystem::path folder = tree.root();
    EXPECT_EQ(expected_file(folder, "7.3.4-rc1+", "fast"), folder / "7.3-fast.json");
    std::ofstream(folder / "7.3.4-fast.json") << "[]";
    EXPECT_EQ(expected_file(folder, "7.3.4", "fast"), folder / "7.3.4-fast.json");
    EXPECT_EQ(expected_file(folder, "7.3.4", "debug"), folder / "7.3-debug.json");
}

}  // namespace
}  // namespace hotplug
