// SPDX-License-Identifier: GPL-2.0
// Purpose: see ktap.h. Known failures are "ok ... # XFAIL", as kselftest prints them.
// Thread: pure functions.
#include "hotplug/report/ktap.h"

#include <fmt/format.h>

#include <algorithm>

namespace hotplug {

namespace {

/// KTAP is a line protocol and '#' begins a directive.
std::string one_line(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '#'; }, ' ');
    return text;
}

std::string_view result_word(Outcome outcome) {
    return outcome == Outcome::fail || outcome == Outcome::fixed ? "not ok" : "ok";
}

std::string directive(Outcome outcome, const std::string& reason) {
    switch (outcome) {
        case Outcome::skip: return " # SKIP " + one_line(reason);
        case Outcome::known: return " # XFAIL " + one_line(reason);
        case Outcome::pass:
        case Outcome::fixed:
        case Outcome::fail: return "";
    }
    return "";
}

/// A failure of a row that is known to fail is known, too.
std::string test_line(const TestResult& test, bool known, size_t number) {
    const bool failed = test.outcome == TestOutcome::fail;
    const std::string note = test.note.empty() ? "" : " " + one_line(test.note);
    std::string directive;
    if (failed) {
        directive = known ? " # XFAIL" + note : note.empty() ? "" : " #" + note;
    } else if (test.outcome == TestOutcome::skip) {
        directive = " # SKIP" + note;
    }
    return fmt::format("    {} {} {}{}\n", failed && !known ? "not ok" : "ok", number,
                       one_line(test.name), directive);
}

/// The checks, and then what the row's programs reported.
void append_subtests(std::string& text, const RowResult& row) {
    text += fmt::format("    KTAP version 1\n    1..{}\n", row.checks.size() + row.tests.size());
    for (size_t i = 0; i < row.checks.size(); ++i) {
        const CheckResult& check = row.checks[i];
        for (const std::string& evidence : check.evidence) {
            text += fmt::format("    # {}\n", one_line(evidence));
        }
        if (check.outcome == Outcome::fixed) {
            text += fmt::format("    # expected to fail: {}\n", one_line(check.reason));
        }
        text += fmt::format("    {} {} {}{}\n", result_word(check.outcome), i + 1,
                            to_string(check.check), directive(check.outcome, check.reason));
    }
    for (size_t i = 0; i < row.tests.size(); ++i) {
        text += test_line(row.tests[i], row.outcome == Outcome::known, row.checks.size() + i + 1);
    }
}

}  // namespace

std::string format_ktap(const RunReport& report) {
    std::string text = fmt::format("KTAP version 1\n1..{}\n", report.rows.size());
    for (size_t i = 0; i < report.rows.size(); ++i) {
        const RowResult& row = report.rows[i];
        if (!row.checks.empty()) {
            append_subtests(text, row);
        }
        const std::string skip =
            row.outcome == Outcome::skip ? directive(Outcome::skip, row.skip_reason) : "";
        text += fmt::format("{} {} {}{}\n", result_word(row.outcome), i + 1, row.id, skip);
    }
    return text + fmt::format("# {}\n", closing_line(tally(report.rows)));
}

}  // namespace hotplug
