// SPDX-License-Identifier: GPL-2.0
// Purpose: see html.h.
// Thread: pure functions.
#include "hotplug/report/html.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hotplug/judge/findings.h"
#include "hotplug/report/json_report.h"
#include "hotplug/report/markup.h"
#include "hotplug/report/repeats.h"
#include "hotplug/report/soak.h"
#include "hotplug/report/table.h"
#include "hotplug/report/timeline_svg.h"

namespace hotplug {

namespace {

constexpr std::string_view style = R"(
:root { color-scheme: light dark; --pass: #2a7d3f; --known: #9a6a00; --fail: #c0262d; --line: #8886; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3em .6em; border-bottom: 1px solid var(--line); vertical-align: top; }
.pass { color: var(--pass); } .known, .quarantined { color: var(--known); }
.fail, .unexpected-pass { color: var(--fail); font-weight: 600; } .skip { opacity: .6; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #8881; padding: .6em; }
svg { max-width: 100%; height: auto; } svg text { font-size: 13px; fill: currentColor; }
svg .loss { fill: var(--fail); } svg .replug { fill: var(--pass); }
details { border-bottom: 1px solid var(--line); padding: .5em 0; } summary { cursor: pointer; }
)";

std::string matrix(const RunReport& report) {
    std::string text = "<table>\n<thead><tr><th>row</th><th>verdict</th>";
    for (const CheckInfo& check : all_checks()) {
        text += fmt::format("<th>{}</th>", check.heading);
    }
    text += "</tr></thead>\n<tbody>\n";
    for (const RowResult& row : report.rows) {
        text += fmt::format("<tr><td><a href=\"#{0}\">{0}</a></td><td class=\"{1}\">{1}</td>",
                            escape_markup(row.id), to_string(row.outcome));
        for (const CheckInfo& check : all_checks()) {
            const CheckResult* result = row.find(check.check);
            text += fmt::format("<td class=\"{}\">{}</td>",
                                result == nullptr ? "skip" : to_string(result->outcome),
                                escape_markup(cell(row, check.check)));
        }
        text += "</tr>\n";
    }
    return text + "</tbody>\n</table>\n";
}

std::string check_details(const CheckResult& check) {
    std::string text = fmt::format("<p class=\"{0}\">{1}: {0} {2}</p>\n", to_string(check.outcome),
                                   to_string(check.check), escape_markup(check.value));
    if (!check.reason.empty()) {
        text += fmt::format("<p>Known: {}</p>\n", escape_markup(check.reason));
    }
    if (!check.evidence.empty()) {
        text += fmt::format("<pre>{}</pre>\n",
                            escape_markup(fmt::format("{}", fmt::join(check.evidence, "\n"))));
    }
    return text;
}

std::string complaint_details(const Complaint& complaint) {
    return fmt::format(
        "<details><summary>{} ({} times)</summary><pre>{}\n\nStack:\n{}</pre></details>\n",
        escape_markup(complaint.title), complaint.count,
        escape_markup(fmt::format("{}", fmt::join(complaint.lines, "\n"))),
        escape_markup(fmt::format("{}", fmt::join(complaint.stack, "\n"))));
}

std::string notes(const RowResult& row) {
    if (row.kernel_log.notes.empty()) {
        return {};
    }
    std::string lines;
    for (const KernelNote& note : row.kernel_log.notes) {
        lines += fmt::format("{} ({} times)\n", format_record(note.time_us, note.text), note.count);
    }
    return fmt::format(
        "<details><summary>Error lines of drivers</summary><pre>{}</pre></details>\n",
        escape_markup(lines));
}

std::string fence_details(const Episode& episode) {
    std::string text;
    for (const FailedFence& fence : episode.fences) {
        text += fmt::format("<p>{}: fence signalled {:.1f} ms after the loss, with {}.</p>\n",
                            escape_markup(fence.client),
                            static_cast<double>(fence.after.count()) / 1e3, fence.status);
    }
    return text;
}

/// What the row's programs reported. There may be hundreds.
std::string test_details(const std::vector<TestResult>& tests) {
    if (tests.empty()) {
        return "";
    }
    std::string list;
    size_t failed = 0;
    for (const TestResult& test : tests) {
        failed += test.outcome == TestOutcome::fail;
        list +=
            fmt::format("<li>{}: <span class=\"{}\">{}</span>{}</li>\n", escape_markup(test.name),
                        to_string(test.outcome), to_string(test.outcome),
                        escape_markup(test.note.empty() ? "" : ", " + test.note));
    }
    return fmt::format(
        "<details{}><summary>{} tests, {} failed</summary>\n<ul>\n{}</ul></details>\n",
        failed != 0 ? " open=\"open\"" : "", tests.size(), failed, list);
}

/// Who waits for what in a guest that hung.
std::string hang_details(const RowResult& row) {
    if (!row.hang) {
        return "";
    }
    return fmt::format("<p>Looked into: {}.{}</p>\n<pre>{}</pre>\n",
                       escape_markup(row.hang->reason),
                       escape_markup(row.hang->note.empty() ? "" : " " + row.hang->note),
                       escape_markup(fmt::format("{}", fmt::join(row.hang->blocked, "\n"))));
}

std::string row_details(const RowResult& row) {
    const bool open = is_red(row.outcome);
    std::string text = fmt::format(
        "<details id=\"{0}\"{1}><summary><b>{0}</b> <span class=\"{2}\">{2}</span>, {3:.1f} "
        "s</summary>\n"
        "<p>This scenario {4}.</p>\n",
        escape_markup(row.id), open ? " open=\"open\"" : "", to_string(row.outcome),
        static_cast<double>(row.duration.count()) / 1000, escape_markup(row.description));
    if (!row.skip_reason.empty()) {
        text += fmt::format("<p>Skipped: {}</p>\n", escape_markup(row.skip_reason));
    }
    if (!row.quarantine.empty()) {
        text += fmt::format("<p>In quarantine {}</p>\n", escape_markup(row.quarantine));
    }
    for (const Episode& episode : row.episodes) {
        text += timeline_svg(episode) + fence_details(episode);
    }
    for (const CheckResult& check : row.checks) {
        text += check_details(check);
    }
    text += hang_details(row) + test_details(row.tests);
    for (const Complaint& complaint : row.kernel_log.complaints) {
        text += complaint_details(complaint);
    }
    text += notes(row);
    if (!row.bundle.empty()) {
        text += fmt::format("<p>Run it again: <code>hpctl replay {}</code></p>\n",
                            escape_markup(row.bundle));
    }
    return text + "</details>\n";
}

/// What the run has against itself, and what it did not judge, in sentences.
std::string integrity(const RunReport& report) {
    const RunVerdict verdict = verdict_of(report);
    std::string text =
        fmt::format("<p class=\"{}\">{}</p>\n", verdict == RunVerdict::pass ? "pass" : "fail",
                    verdict == RunVerdict::pass   ? "This run passed."
                    : verdict == RunVerdict::fail ? "This run failed."
                                                  : "This run has no verdict.");
    if (report.integrity.entries().empty()) {
        return text;
    }
    text += "<h2>The run itself</h2>\n<ul>\n";
    for (const IntegrityRule& rule : integrity_rules()) {
        for (const IntegrityEntry& entry : report.integrity.of(rule.kind)) {
            text += fmt::format("<li class=\"{}\">{}: <code>{}</code></li>\n",
                                entry.severity == Severity::note ? "known" : "fail",
                                escape_markup(rule.meaning), escape_markup(describe(entry)));
        }
    }
    return text + "</ul>\n";
}

std::string facts(const RunReport& report) {
    const RunInfo& info = report.info;
    std::string text = fmt::format(
        "<p>Kernel {} ({}), profile {}, seed {}, {} boots, started {}.</p>\n",
        escape_markup(info.kernel), escape_markup(info.flavour), escape_markup(info.profile),
        info.seed, info.boots, escape_markup(info.started));
    text += integrity(report);
    if (const double rate = cycles_per_hour(report); rate > 0) {
        text += fmt::format("<p>{:.0f} cycles per hour.</p>\n", rate);
    }
    text += "<ul>\n";
    for (const auto& [what, version] : info.versions) {
        text += fmt::format("<li>{}: {}</li>\n", escape_markup(what), escape_markup(version));
    }
    text += fmt::format("<li><code>hpctl {}</code></li>\n</ul>\n",
                        escape_markup(fmt::format("{}", fmt::join(info.command, " "))));
    for (const auto& [what, packages] : info.packages) {
        text += fmt::format(
            "<details><summary>{}: {} Debian packages</summary><pre>{}</pre></details>\n",
            escape_markup(what), packages.size(),
            escape_markup(fmt::format("{}", fmt::join(packages, "\n"))));
    }
    return text;
}

}  // namespace

std::string format_html(const RunReport& report) {
    std::string text = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
        "<title>amdgpu hot-plug: {0}</title>\n<style>{1}</style>\n</head>\n<body>\n"
        "<h1>amdgpu hot-plug: {0}</h1>\n",
        closing_line(report), style);
    text += facts(report) + matrix(report);
    text += "<p>* known failure, ! unexpected failure, + unexpected pass, - not judged</p>\n";
    for (const Soak& soak : summarize_soaks(report.rows)) {
        text += fmt::format("<pre>{}</pre>\n", escape_markup(format_soak(soak)));
    }
    for (const Repeats& repeats : summarize_repeats(report.rows)) {
        text += fmt::format("<p>{}</p>\n", escape_markup(format_repeats(repeats)));
    }
    if (const std::string findings = format_findings(report); !findings.empty()) {
        text += fmt::format("<pre>{}</pre>\n", escape_markup(findings));
    }
    for (const RowResult& row : report.rows) {
        text += row_details(row);
    }
    return text + "</body>\n</html>\n";
}

}  // namespace hotplug
