// SPDX-License-Identifier: GPL-2.0
// Purpose: see verdict.h.
// Thread: pure functions.
#include "hotplug/judge/verdict.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

namespace hotplug {

namespace {

Outcome outcome_of(const CheckResult& check, const ExpectedFailure* expected) {
    if (check.passed) {
        return expected != nullptr && !expected->sometimes ? Outcome::fixed : Outcome::pass;
    }
    return expected != nullptr && expected->covers(check.evidence) ? Outcome::known : Outcome::fail;
}

/// The worst outcome of the checks, in the order of severity.
Outcome worst(const std::vector<CheckResult>& checks) {
    Outcome worst = Outcome::pass;
    for (const CheckResult& check : checks) {
        worst = std::max(worst, check.outcome);
    }
    return worst;
}

std::string_view label(Outcome outcome) {
    switch (outcome) {
        case Outcome::pass: return "pass";
        case Outcome::known: return "known";
        case Outcome::fixed: return "UNEXPECTED PASS";
        case Outcome::fail: return "FAIL";
        case Outcome::quarantined: return "quarantined";
        case Outcome::skip: return "skip";
    }
    return "";
}

}  // namespace

std::string utc_text(std::time_t time) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(time));
}

std::string_view to_string(Outcome outcome) {
    switch (outcome) {
        case Outcome::pass: return "pass";
        case Outcome::known: return "known";
        case Outcome::fixed: return "unexpected-pass";
        case Outcome::fail: return "fail";
        case Outcome::quarantined: return "quarantined";
        case Outcome::skip: return "skip";
    }
    return "";
}

bool is_red(Outcome outcome) {
    return outcome == Outcome::fail || outcome == Outcome::fixed;
}

std::optional<std::chrono::microseconds> Episode::clients_released() const {
    std::optional<std::chrono::microseconds> last;
    for (const VictimClient& client : clients) {
        if (!client.ended) {
            return std::nullopt;
        }
        last = std::max(last, client.ended);
    }
    return last;
}

const CheckResult* RowResult::find(Check check) const {
    const auto found = std::find_if(checks.begin(), checks.end(), [&](const CheckResult& result) {
        return result.check == check;
    });
    return found == checks.end() ? nullptr : &*found;
}

void judge(RowResult& row, const ExpectedFailures& expected) {
    if (!row.skip_reason.empty()) {
        row.outcome = Outcome::skip;
        return;
    }
    for (CheckResult& check : row.checks) {
        const ExpectedFailure* known = expected.find(row.expected_key, check.check);
        check.outcome = outcome_of(check, known);
        check.reason = known == nullptr ? "" : known->reason;
    }
    row.outcome = worst(row.checks);
}

Tally tally(const std::vector<RowResult>& rows) {
    Tally tally;
    for (const RowResult& row : rows) {
        switch (row.outcome) {
            case Outcome::pass:
            case Outcome::known: ++tally.passed; break;
            case Outcome::fixed:
            case Outcome::fail: ++tally.failed; break;
            case Outcome::quarantined: ++tally.quarantined; break;
            case Outcome::skip: ++tally.skipped; break;
        }
        tally.known += std::count_if(row.checks.begin(), row.checks.end(), [](const auto& check) {
            return check.outcome == Outcome::known;
        });
    }
    return tally;
}

RunVerdict verdict_of(const RunReport& report) {
    if (report.integrity.count(Severity::error) != 0) {
        return RunVerdict::error;
    }
    const bool good = tally(report.rows).failed == 0 && report.integrity.sound();
    return good ? RunVerdict::pass : RunVerdict::fail;
}

std::string_view to_string(RunVerdict verdict) {
    switch (verdict) {
        case RunVerdict::pass: return "pass";
        case RunVerdict::fail: return "fail";
        case RunVerdict::error: return "error";
    }
    return "";
}

bool only_out_of_time(const RunReport& report) {
    const auto& entries = report.integrity.entries();
    return report.info.out_of_time && tally(report.rows).failed == 0 &&
           std::all_of(entries.begin(), entries.end(), [](const IntegrityEntry& entry) {
               return entry.severity == Severity::note ||
                      entry.kind == IntegrityKind::out_of_time ||
                      entry.kind == IntegrityKind::not_run;
           });
}

std::string closing_line(const RunReport& report) {
    const Tally sum = tally(report.rows);
    std::string line =
        fmt::format("{} passed, {} failed, {} skipped", sum.passed, sum.failed, sum.skipped);
    if (sum.quarantined != 0) {
        line += fmt::format(", {} in quarantine", sum.quarantined);
    }
    if (!report.not_run.empty()) {
        line += fmt::format(", {} not run", report.not_run.size());
    }
    if (const unsigned flaws = report.integrity.flaws(); flaws != 0) {
        line += fmt::format("; {} flaw{} of the run itself", flaws, flaws == 1 ? "" : "s");
    }
    return line;
}

std::vector<std::string> explain(const RowResult& row) {
    std::vector<std::string> lines;
    if (row.outcome == Outcome::skip) {
        return {fmt::format("skip {}: {}", row.id, row.skip_reason)};
    }
    if (row.outcome == Outcome::quarantined) {
        lines.push_back(fmt::format("quarantined {} {}", row.id, row.quarantine));
    }
    for (const CheckResult& check : row.checks) {
        if (check.outcome == Outcome::pass) {
            continue;
        }
        std::string line =
            fmt::format("{} {} {}", label(check.outcome), row.id, to_string(check.check));
        if (!check.reason.empty()) {
            line += fmt::format(" ({})", check.reason);
        }
        if (!check.value.empty()) {
            line += " " + check.value;
        }
        for (const std::string& evidence : check.evidence) {
            line += "\n      " + evidence;
        }
        lines.push_back(std::move(line));
    }
    if (row.hang) {
        lines.push_back(fmt::format("hang {} {}{}{}", row.id, row.hang->reason,
                                    row.hang->note.empty() ? "" : "; ", row.hang->note));
        for (const std::string& blocked : row.hang->blocked) {
            lines.push_back("  " + blocked);
        }
    }
    return lines;
}

}  // namespace hotplug
