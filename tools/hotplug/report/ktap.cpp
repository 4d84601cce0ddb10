// SPDX-License-Identifier: GPL-2.0
// Purpose: see ktap.h. Known failures are "ok ... # XFAIL", as kselftest prints them.
// Thread: pure functions.
#include "hotplug/report/ktap.h"

#include <fmt/format.h>

#include "lib/ktap.h"

namespace hotplug {

namespace {

using hp::ktap::Directive;

bool failed(Outcome outcome) {
    return outcome == Outcome::fail || outcome == Outcome::fixed;
}

Directive directive(Outcome outcome) {
    switch (outcome) {
        case Outcome::skip: return Directive::skip;
        case Outcome::known: return Directive::xfail;
        case Outcome::pass:
        case Outcome::fixed:
        case Outcome::fail: break;
    }
    return Directive::none;
}

/// A failure of a row that is known to fail is known, too.
hp::ktap::Result result_of(const TestResult& test, bool known, size_t number) {
    hp::ktap::Result result{true, number, test.name, Directive::none, test.note};
    switch (test.outcome) {
        case TestOutcome::pass: result.note.clear(); break;
        case TestOutcome::skip: result.directive = Directive::skip; break;
        case TestOutcome::fail:
            result.ok = known;
            result.directive = known ? Directive::xfail : Directive::none;
            break;
    }
    return result;
}

hp::ktap::Result result_of(const CheckResult& check, size_t number) {
    const Directive known = directive(check.outcome);
    return {!failed(check.outcome), number, std::string(to_string(check.check)), known,
            known == Directive::none ? "" : check.reason};
}

void append(std::string& text, std::string_view line) {
    text += fmt::format("    {}\n", line);
}

/// The checks, and then what the row's programs reported.
void append_subtests(std::string& text, const RowResult& row) {
    append(text, hp::ktap::version_line);
    append(text, hp::ktap::format_plan(row.checks.size() + row.tests.size()));
    size_t number = 0;
    for (const CheckResult& check : row.checks) {
        for (const std::string& evidence : check.evidence) {
            append(text, hp::ktap::format_comment(evidence));
        }
        if (check.outcome == Outcome::fixed) {
            append(text, hp::ktap::format_comment("expected to fail: " + check.reason));
        }
        append(text, hp::ktap::format_result(result_of(check, ++number)));
    }
    for (const TestResult& test : row.tests) {
        append(text,
               hp::ktap::format_result(result_of(test, row.outcome == Outcome::known, ++number)));
    }
}

/// A last test of its own, with a subtest for each kind of flaw.
std::string integrity_test(const Integrity& integrity, size_t number) {
    std::string text;
    append(text, hp::ktap::version_line);
    append(text, hp::ktap::format_plan(integrity_rules().size()));
    size_t kind = 0;
    for (const IntegrityRule& rule : integrity_rules()) {
        hp::ktap::Result result{true, ++kind, std::string(rule.name)};
        for (const IntegrityEntry& entry : integrity.of(rule.kind)) {
            if (entry.severity == Severity::note) {
                result.note += (result.note.empty() ? "" : "; ") + describe(entry);
            } else {
                result.ok = false;
                append(text, hp::ktap::format_comment(describe(entry)));
            }
        }
        if (!result.ok) {
            result.note.clear();
        } else if (!result.note.empty()) {
            result.directive = Directive::skip;
        }
        append(text, hp::ktap::format_result(result));
    }
    return text + hp::ktap::format_result({integrity.sound(), number, "integrity"}) + "\n";
}

}  // namespace

std::string format_ktap(const RunReport& report) {
    std::string text = fmt::format("{}\n{}\n", hp::ktap::version_line,
                                   hp::ktap::format_plan(report.rows.size() + 1));
    size_t number = 0;
    for (const RowResult& row : report.rows) {
        if (!row.checks.empty()) {
            append_subtests(text, row);
        }
        const bool skipped = row.outcome == Outcome::skip;
        text += hp::ktap::format_result({!failed(row.outcome), ++number, row.id,
                                         skipped ? Directive::skip : Directive::none,
                                         skipped ? row.skip_reason : ""}) +
                "\n";
    }
    return text + integrity_test(report.integrity, ++number) +
           hp::ktap::format_comment(closing_line(report)) + "\n";
}

}  // namespace hotplug
