// SPDX-License-Identifier: GPL-2.0
// Purpose: see junit.h.
// Thread: pure functions.
#include "hotplug/report/junit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

#include "hotplug/report/markup.h"
#include "hotplug/report/repeats.h"

namespace hotplug {

namespace {

/// What stands within a test case, and as what it counts.
enum class Kind { pass, failure, error, skipped };

struct Case {
    std::string classname;  ///< with the name, GitLab's key: of two that are equal it drops one
    std::string name;
    std::chrono::milliseconds time{0};
    Kind kind = Kind::pass;
    std::string message{};
    std::string text{};  ///< of a failure or error; else of system-out
};

std::string_view element(Kind kind) {
    switch (kind) {
        case Kind::failure: return "failure";
        case Kind::error: return "error";
        case Kind::skipped: return "skipped";
        case Kind::pass: break;
    }
    return "";
}

std::string seconds(std::chrono::milliseconds time) {
    return fmt::format("{:.3f}", static_cast<double>(time.count()) / 1000);
}

std::string format_case(const Case& one) {
    std::string text =
        fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{}\">\n",
                    escape_markup(one.classname), escape_markup(one.name), seconds(one.time));
    std::string inside = escape_markup(one.text);
    const std::string message = escape_markup(one.message);
    if (one.kind == Kind::failure || one.kind == Kind::error) {
        text += fmt::format("      <{0} message=\"{1}\" type=\"{1}\">{2}</{0}>\n",
                            element(one.kind), message, inside);
        inside.clear();
    } else if (one.kind == Kind::skipped) {
        text += fmt::format("      <skipped message=\"{}\"/>\n", message);
    }
    if (!inside.empty()) {
        text += fmt::format("      <system-out>{}</system-out>\n", inside);
    }
    return text + "    </testcase>\n";
}

Case case_of(const RowResult& row) {
    Case made = {.classname = row.expected_key.substr(0, row.expected_key.find('/')),
                 .name = row.id,
                 .time = row.duration};
    const std::string details = fmt::format("{}", fmt::join(explain(row), "\n"));
    switch (row.outcome) {
        case Outcome::skip:
            made.kind = Kind::skipped;
            made.message = row.skip_reason;
            break;
        case Outcome::quarantined:
            made.kind = Kind::skipped;
            made.message = fmt::format("failed, in quarantine {}", row.quarantine);
            made.text = details;
            break;
        case Outcome::fixed:
        case Outcome::fail:
            made.kind = Kind::failure;
            made.message = to_string(row.outcome);
            made.text = details;
            break;
        case Outcome::known: made.text = details; break;
        case Outcome::pass: break;
    }
    return made;
}

/// Of a program that the row ran. A failure of a row that is known to fail, or in quarantine, is
/// excused with it.
Case case_of(const RowResult& row, const TestResult& test) {
    Case made = {.classname = row.id, .name = test.name};
    switch (test.outcome) {
        case TestOutcome::skip:
            made.kind = Kind::skipped;
            made.message = test.note;
            break;
        case TestOutcome::fail:
            if (row.outcome == Outcome::known || row.outcome == Outcome::quarantined) {
                made.text = test.note;
            } else {
                made.kind = Kind::failure;
                made.message = test.note;
            }
            break;
        case TestOutcome::pass: break;
    }
    return made;
}

/// A kind of flaw of the run itself.
Case case_of(const Integrity& integrity, const IntegrityRule& rule) {
    Case made = {.classname = "integrity", .name = std::string(rule.name)};
    std::string flaws, notes;
    for (const IntegrityEntry& entry : integrity.of(rule.kind)) {
        std::string& text = entry.severity == Severity::note ? notes : flaws;
        text += (text.empty() ? "" : "\n") + describe(entry);
        if (entry.severity != Severity::note) {
            made.kind = entry.severity == Severity::error ? Kind::error : Kind::failure;
        }
    }
    if (!flaws.empty()) {
        made.message = rule.meaning;
        made.text = flaws;
    } else if (!notes.empty()) {
        made.kind = Kind::skipped;
        made.message = notes;
    }
    return made;
}

std::vector<Case> all_cases(const RunReport& report) {
    std::vector<Case> cases;
    for (const RowResult& row : report.rows) {
        cases.push_back(case_of(row));
        for (const TestResult& test : row.tests) {
            cases.push_back(case_of(row, test));
        }
    }
    for (const std::string& id : report.not_run) {
        cases.push_back({.classname = id.substr(0, id.find_first_of("/~")),
                         .name = id,
                         .kind = Kind::skipped,
                         .message = "not run"});
    }
    for (const IntegrityRule& rule : integrity_rules()) {
        cases.push_back(case_of(report.integrity, rule));
    }
    return cases;
}

std::string counts(const RunReport& report, const std::vector<Case>& cases) {
    size_t failures = 0, errors = 0, skipped = 0;
    for (const Case& one : cases) {
        failures += one.kind == Kind::failure;
        errors += one.kind == Kind::error;
        skipped += one.kind == Kind::skipped;
    }
    return fmt::format(
        "name=\"amdgpu-hotplug\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
        "time=\"{}\"",
        cases.size(), failures, errors, skipped, seconds(report.info.duration));
}

std::string properties(const RunReport& report) {
    std::vector<std::pair<std::string, std::string>> all = {
        {"kernel", report.info.kernel},
        {"flavour", report.info.flavour},
        {"profile", report.info.profile},
        {"seed", std::to_string(report.info.seed)},
    };
    for (const Repeats& repeats : summarize_repeats(report.rows)) {
        all.emplace_back("failed tries of " + repeats.row, format_repeats(repeats));
    }
    std::string text = "    <properties>\n";
    for (const auto& [name, value] : all) {
        text += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", escape_markup(name),
                            escape_markup(value));
    }
    return text + "    </properties>\n";
}

}  // namespace

std::string format_junit(const RunReport& report) {
    const std::vector<Case> cases = all_cases(report);
    const std::string sum = counts(report, cases);
    // Some readers know no zone.
    const std::string when = report.info.started.substr(0, report.info.started.find('Z'));
    std::string text = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {}>\n"
        "  <testsuite {} timestamp=\"{}\">\n",
        sum, sum, escape_markup(when));
    text += properties(report);
    for (const Case& one : cases) {
        text += format_case(one);
    }
    return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace hotplug
