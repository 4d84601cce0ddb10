// SPDX-License-Identifier: GPL-2.0
// Purpose: verdicts with and without known failures, and the list of known failures itself.
// Thread: one.
#include "hotplug/judge/verdict.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

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

ExpectedFailures known(bool sometimes = false, std::vector<std::string> matching = {}) {
    return ExpectedFailures({{"r", Check::removed, "C5", sometimes, std::move(matching)}});
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
    EXPECT_EQ(judged(row("r", {passed(Check::removed)}), known(true)), Outcome::pass);
    EXPECT_EQ(judged(row("r", {failed(Check::removed)}), known(true)), Outcome::known);
}

TEST(Verdict, NewEvidenceInAKnownFailureIsRed) {
    const auto expected = known(false, {"WARNING in a"});
    EXPECT_EQ(judged(row("r", {failed(Check::removed, {"[1] WARNING in a"})}), expected),
              Outcome::known);
    EXPECT_EQ(
        judged(row("r", {failed(Check::removed, {"[1] WARNING in a", "KASAN in b"})}), expected),
        Outcome::fail);
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
    EXPECT_EQ(closing_line(sum), "2 passed, 1 failed, 1 skipped");
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
    const auto read = ExpectedFailures::parse(known(true, {"x"}).to_json(), "e.json");
    ASSERT_TRUE(read) << read.error().message;
    const ExpectedFailure* failure = read->find("r", Check::removed);
    ASSERT_NE(failure, nullptr);
    EXPECT_EQ(failure->reason, "C5");
    EXPECT_TRUE(failure->sometimes);
    EXPECT_EQ(failure->matching, std::vector<std::string>{"x"});
}

TEST(Expected, ErrorsNameTheEntry) {
    const auto error = [](const char* text) {
        const auto read = ExpectedFailures::parse(text, "e.json");
        return read ? "no error" : read.error().message;
    };
    EXPECT_EQ(error("{}"), "e.json: expected a JSON list of known failures");
    EXPECT_EQ(error("["), "e.json: expected a JSON list of known failures");
    EXPECT_EQ(error("[1]"), "e.json: /0: expected an object");
    EXPECT_EQ(error(R"([{"row": "a", "check": "removed"}])"),
              "e.json: /0: member 'reason' is missing");
    EXPECT_EQ(error(R"([{"row": "a", "check": "nope", "reason": "r"}])"),
              "e.json: /0: no such check 'nope'");
    EXPECT_EQ(
        error(R"([{"row": 1}])").find("e.json: /0: member 'row' is not allowed or of the wrong"),
        0U);
    EXPECT_EQ(error(R"([{"matching": [1]}])").find("e.json: /0: member 'matching'"), 0U);
}

TEST(Expected, UpdateKeepsReasonsAndRowsThatDidNotRun) {
    const ExpectedFailures old({{"r", Check::removed, "C5", false, {}},
                                {"r", Check::replug, "gone now", false, {}},
                                {"r", Check::no_leak, "race", true, {}},
                                {"elsewhere", Check::removed, "kept", false, {}}});
    RowResult made =
        row("r", {failed(Check::removed), passed(Check::replug), passed(Check::no_leak),
                  failed(Check::log_clean, {"[1] WARNING in f"})});
    made.kernel_log.complaints = {
        {.kind = ComplaintKind::warning, .title = "WARNING in f", .lines = {}, .stack = {}}};
    const ExpectedFailures fresh = old.updated({made});
    ASSERT_NE(fresh.find("r", Check::removed), nullptr);
    EXPECT_EQ(fresh.find("r", Check::removed)->reason, "C5");
    EXPECT_EQ(fresh.find("r", Check::replug), nullptr);
    EXPECT_NE(fresh.find("r", Check::no_leak), nullptr)
        << "a race that did not show is still known";
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
    const ExpectedFailures fresh = ExpectedFailures().updated({one, two});
    ASSERT_NE(fresh.find("c", Check::removed), nullptr);
    EXPECT_TRUE(fresh.find("c", Check::removed)->sometimes);
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
