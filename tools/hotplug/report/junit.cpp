// SPDX-License-Identifier: GPL-2.0
// Purpose: see junit.h.
// Thread: pure functions.
#include "hotplug/report/junit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hotplug/report/markup.h"

namespace hotplug {

namespace {

std::string test_case(const RowResult& row) {
    const std::string classname = row.expected_key.substr(0, row.expected_key.find('/'));
    std::string text = fmt::format("  <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\">\n",
                                   escape_markup(classname), escape_markup(row.id),
                                   static_cast<double>(row.duration.count()) / 1000);
    const std::string details = escape_markup(fmt::format("{}", fmt::join(explain(row), "\n")));
    switch (row.outcome) {
        case Outcome::skip:
            text += fmt::format("    <skipped message=\"{}\"/>\n", escape_markup(row.skip_reason));
            break;
        case Outcome::fixed:
        case Outcome::fail:
            text += fmt::format("    <failure message=\"{}\">{}</failure>\n",
                                to_string(row.outcome), details);
            break;
        case Outcome::known:
            text += fmt::format("    <system-out>{}</system-out>\n", details);
            break;
        case Outcome::pass: break;
    }
    return text + "  </testcase>\n";
}

/// Of a program that the row ran. A failure of a row that is known to fail is known, too.
std::string test_case(const RowResult& row, const TestResult& test) {
    std::string text = fmt::format("  <testcase classname=\"{}\" name=\"{}\">\n",
                                   escape_markup(row.id), escape_markup(test.name));
    const std::string note = escape_markup(test.note);
    switch (test.outcome) {
        case TestOutcome::skip: text += fmt::format("    <skipped message=\"{}\"/>\n", note); break;
        case TestOutcome::fail:
            text += row.outcome == Outcome::known
                        ? fmt::format("    <system-out>{}</system-out>\n", note)
                        : fmt::format("    <failure message=\"{}\"/>\n", note);
            break;
        case TestOutcome::pass: break;
    }
    return text + "  </testcase>\n";
}

/// A kind of flaw of the run itself.
std::string test_case(const Integrity& integrity, const IntegrityRule& rule) {
    std::string failures, notes;
    for (const IntegrityEntry& entry : integrity.of(rule.kind)) {
        std::string& text = entry.severity == Severity::note ? notes : failures;
        text += (text.empty() ? "" : "\n") + describe(entry);
    }
    std::string text = fmt::format("  <testcase classname=\"integrity\" name=\"{}\">\n", rule.name);
    if (!failures.empty()) {
        text += fmt::format("    <failure message=\"{}\">{}</failure>\n",
                            escape_markup(rule.meaning), escape_markup(failures));
    } else if (!notes.empty()) {
        text += fmt::format("    <skipped message=\"{}\"/>\n", escape_markup(notes));
    }
    return text + "  </testcase>\n";
}

/// All test cases: those of the rows, those of their programs, and those of the run itself.
struct Counts {
    size_t all = 0;
    size_t failed = 0;
    size_t skipped = 0;
};

Counts count(const RunReport& report) {
    const Tally rows = tally(report.rows);
    Counts counts = {report.rows.size(), rows.failed, rows.skipped};
    for (const RowResult& row : report.rows) {
        for (const TestResult& test : row.tests) {
            ++counts.all;
            counts.failed += test.outcome == TestOutcome::fail && row.outcome != Outcome::known;
            counts.skipped += test.outcome == TestOutcome::skip;
        }
    }
    for (const IntegrityRule& rule : integrity_rules()) {
        const auto entries = report.integrity.of(rule.kind);
        const bool failed = std::any_of(entries.begin(), entries.end(), [](const auto& entry) {
            return entry.severity != Severity::note;
        });
        ++counts.all;
        counts.failed += failed;
        counts.skipped += !failed && !entries.empty();
    }
    return counts;
}

}  // namespace

std::string format_junit(const RunReport& report) {
    const Counts sum = count(report);
    std::string text = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuite name=\"amdgpu-hotplug\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
        "skipped=\"{}\" "
        "time=\"{:.3f}\">\n",
        sum.all, sum.failed, report.info.error.empty() ? 0 : 1, sum.skipped,
        static_cast<double>(report.info.duration.count()) / 1000);
    for (const RowResult& row : report.rows) {
        text += test_case(row);
        for (const TestResult& test : row.tests) {
            text += test_case(row, test);
        }
    }
    for (const IntegrityRule& rule : integrity_rules()) {
        text += test_case(report.integrity, rule);
    }
    if (!report.info.error.empty()) {
        text += fmt::format("  <system-err>{}</system-err>\n", escape_markup(report.info.error));
    }
    return text + "</testsuite>\n";
}

}  // namespace hotplug
