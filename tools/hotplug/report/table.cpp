// SPDX-License-Identifier: GPL-2.0
// Purpose: see table.h.
// Thread: pure functions.
#include "hotplug/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "hotplug/judge/findings.h"
#include "hotplug/report/json_report.h"
#include "hotplug/report/repeats.h"
#include "hotplug/report/soak.h"

namespace hotplug {

namespace {

std::string_view mark(Outcome outcome) {
    switch (outcome) {
        case Outcome::known: return " *";
        case Outcome::fixed: return " +";
        case Outcome::fail: return " !";
        case Outcome::pass:
        case Outcome::quarantined:
        case Outcome::skip: return "";
    }
    return "";
}

using Line = std::vector<std::string>;

Line row_line(const RowResult& row) {
    Line line = {row.id, std::string(to_string(row.outcome))};
    for (const CheckInfo& check : all_checks()) {
        line.push_back(cell(row, check.check));
    }
    return line;
}

std::string align(const std::vector<Line>& lines) {
    std::vector<size_t> widths(lines.front().size());
    for (const Line& line : lines) {
        for (size_t i = 0; i < line.size(); ++i) {
            widths[i] = std::max(widths[i], line[i].size());
        }
    }
    std::string text;
    for (const Line& line : lines) {
        std::string row;
        for (size_t i = 0; i < line.size(); ++i) {
            row += fmt::format("{:<{}}  ", line[i], widths[i]);
        }
        row.erase(row.find_last_not_of(' ') + 1);
        text += row + "\n";
    }
    return text;
}

std::string known_failures(const RunReport& report) {
    std::string text;
    for (const RowResult& row : report.rows) {
        for (const CheckResult& check : row.checks) {
            if (check.outcome == Outcome::known) {
                text += fmt::format("  {} {}: {}\n", row.id, to_string(check.check), check.reason);
            }
        }
    }
    return text;
}

std::string quarantined_rows(const RunReport& report) {
    std::string text;
    for (const RowResult& row : report.rows) {
        if (row.outcome == Outcome::quarantined) {
            text += fmt::format("  {} {}\n", row.id, row.quarantine);
        }
    }
    return text.empty() ? text : "\nIn quarantine:\n" + text;
}

}  // namespace

std::string cell(const RowResult& row, Check check) {
    const CheckResult* result = row.find(check);
    if (result == nullptr) {
        return "-";
    }
    const std::string fallback = result->passed ? "ok" : "no";
    return fmt::format("{}{}", result->value.empty() ? fallback : result->value,
                       mark(result->outcome));
}

std::string format_integrity(const Integrity& integrity) {
    std::string text;
    for (const IntegrityRule& rule : integrity_rules()) {
        for (const IntegrityEntry& entry : integrity.of(rule.kind)) {
            text += fmt::format("  {:<5} {}: {}\n", to_string(entry.severity), rule.name,
                                describe(entry));
        }
    }
    return text.empty() ? text : "\nThe run itself:\n" + text;
}

std::string format_table(const RunReport& report) {
    Line header = {"row", "verdict"};
    for (const CheckInfo& check : all_checks()) {
        header.emplace_back(check.heading);
    }
    std::vector<Line> lines = {header};
    for (const RowResult& row : report.rows) {
        lines.push_back(row_line(row));
    }
    const Tally sum = tally(report.rows);
    std::string text = align(lines);
    text += "\n* known failure   ! unexpected failure   + unexpected pass   - not judged\n";
    if (sum.known != 0) {
        text += fmt::format("\n{} known failures:\n{}", sum.known, known_failures(report));
    }
    text += quarantined_rows(report);
    for (const Soak& soak : summarize_soaks(report.rows)) {
        text += "\n" + format_soak(soak);
    }
    for (const Repeats& repeats : summarize_repeats(report.rows)) {
        text += "\n" + format_repeats(repeats) + "\n";
    }
    if (const std::string findings = format_findings(report); !findings.empty()) {
        text += "\n" + findings;
    }
    if (const double rate = cycles_per_hour(report); rate > 0) {
        text += fmt::format("\n{:.0f} cycles per hour\n", rate);
    }
    return text + format_integrity(report.integrity) + "\n" + closing_line(report) + "\n";
}

}  // namespace hotplug
