// SPDX-License-Identifier: GPL-2.0
// Purpose: see ktap.h. Known failures are "ok ... # XFAIL", as kselftest prints them.
// Thread: pure functions.
#include "hotplug/report/ktap.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "hotplug/report/repeats.h"
#include "lib/ktap.h"

namespace hotplug {

namespace {

using hp::ktap::Directive;

Directive directive(Outcome outcome) {
    switch (outcome) {
        case Outcome::skip: return Directive::skip;
        case Outcome::known:
        case Outcome::quarantined: return Directive::xfail;
        case Outcome::pass:
        case Outcome::fixed:
        case Outcome::fail: break;
    }
    return Directive::none;
}

/// A failure of a row that is known to fail, or in quarantine, is excused with it.
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

hp::ktap::Result result_of(const RowResult& row, const CheckResult& check, size_t number) {
    const bool excused = row.outcome == Outcome::quarantined && is_red(check.outcome);
    const Directive known = excused ? Directive::xfail : directive(check.outcome);
    return {excused || !is_red(check.outcome), number, std::string(to_string(check.check)), known,
            excused                    ? "in quarantine " + row.quarantine
            : known == Directive::none ? ""
                                       : check.reason};
}

bool is_excused(Outcome outcome) {
    return outcome == Outcome::known || outcome == Outcome::quarantined;
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
        append(text, hp::ktap::format_result(result_of(row, check, ++number)));
    }
    for (const TestResult& test : row.tests) {
        append(text, hp::ktap::format_result(result_of(test, is_excused(row.outcome), ++number)));
    }
}

std::string head(size_t rows) {
    return fmt::format("{}\n{}\n", hp::ktap::version_line, hp::ktap::format_plan(rows + 1));
}

std::string row_test(const RowResult& row, size_t number) {
    std::string text;
    if (!row.checks.empty()) {
        append_subtests(text, row);
    }
    hp::ktap::Result result{!is_red(row.outcome), number, row.id};
    if (row.outcome == Outcome::skip || row.outcome == Outcome::quarantined) {
        result.directive = directive(row.outcome);
        result.note =
            row.outcome == Outcome::skip ? row.skip_reason : "in quarantine " + row.quarantine;
    }
    return text + hp::ktap::format_result(result) + "\n";
}

/// A last test of its own, with a subtest for each kind of flaw. `late`: rows that failed after
/// their own test was written.
std::string integrity_test(const Integrity& integrity, size_t number,
                           const std::vector<std::string>& late) {
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
    for (const std::string& what : late) {
        append(text, hp::ktap::format_comment(what));
    }
    return text +
           hp::ktap::format_result({integrity.sound() && late.empty(), number, "integrity"}) + "\n";
}

/// What follows the tests of `number` rows.
std::string tail(const RunReport& report, size_t number, const std::vector<std::string>& late) {
    std::string text;
    for (const std::string& id : report.not_run) {
        text += hp::ktap::format_result({true, ++number, id, Directive::skip, "not run"}) + "\n";
    }
    for (const Repeats& repeats : summarize_repeats(report.rows)) {
        text += hp::ktap::format_comment(format_repeats(repeats)) + "\n";
    }
    return text + integrity_test(report.integrity, ++number, late) +
           hp::ktap::format_comment(closing_line(report)) + "\n";
}

}  // namespace

std::string format_ktap(const RunReport& report) {
    std::string text = head(report.rows.size() + report.not_run.size());
    size_t number = 0;
    for (const RowResult& row : report.rows) {
        text += row_test(row, ++number);
    }
    return text + tail(report, number, {});
}

hp::Result<void> KtapStream::advance(const RunReport& report, size_t planned) {
    std::string text = begun_ ? "" : head(planned);
    begun_ = true;
    while (told_.size() < report.rows.size()) {
        const RowResult& row = report.rows[told_.size()];
        told_.push_back(row.outcome);
        text += row_test(row, told_.size());
    }
    return write(text);
}

hp::Result<void> KtapStream::finish(const RunReport& report) {
    if (auto written = advance(report, report.rows.size() + report.not_run.size()); !written) {
        return written;
    }
    std::vector<std::string> late;
    for (size_t i = 0; i < report.rows.size(); ++i) {
        const RowResult& row = report.rows[i];
        if (is_red(row.outcome) && !is_red(told_[i])) {
            const auto lines = explain(row);
            late.insert(late.end(), lines.begin(), lines.end());
        }
    }
    return write(tail(report, told_.size(), late));
}

hp::Result<void> KtapStream::write(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), out_) != text.size() || std::fflush(out_) != 0) {
        return hp::fail(fmt::format("cannot write KTAP: {}", std::strerror(errno)));
    }
    return {};
}

}  // namespace hotplug
