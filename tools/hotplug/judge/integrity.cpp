// SPDX-License-Identifier: GPL-2.0
// Purpose: see integrity.h.
// Thread: pure functions.
#include "hotplug/judge/integrity.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace hotplug {

namespace {

constexpr IntegrityRule rules[] = {
    {IntegrityKind::unfinished, "unfinished", Severity::fail,
     "The run goes on, or it was killed: rows are missing"},
    {IntegrityKind::ended_early, "ended_early", Severity::error,
     "The run ended before its last row"},
    {IntegrityKind::harness_fault, "harness_fault", Severity::error,
     "A part of the harness, such as an emulator, did not end well"},
    {IntegrityKind::out_of_time, "out_of_time", Severity::fail,
     "The time that the run may take was over before its last row"},
    {IntegrityKind::not_run, "not_run", Severity::fail,
     "These rows were not run, or not to their end: the run was over before"},
    {IntegrityKind::late_complaint, "late_complaint", Severity::fail,
     "The kernel complained between two rows or after the last one"},
    {IntegrityKind::boot_failed, "boot_failed", Severity::fail,
     "A guest did not boot, or the driver did not bind to its GPUs, and another was tried"},
    {IntegrityKind::nothing_judged, "nothing_judged", Severity::fail,
     "Every row was skipped: nothing was judged"},
    {IntegrityKind::options_unknown, "options_unknown", Severity::fail,
     "The kernel's configuration is not known, and with it not what watches over the driver"},
    {IntegrityKind::leaks_unseen, "leaks_unseen", Severity::fail,
     "The kernel has neither kmemleak nor /proc/slabinfo: a leak of memory is not seen"},
    {IntegrityKind::output_cut, "output_cut", Severity::fail,
     "A program printed more than the guest's agent keeps: what followed was not judged"},
    {IntegrityKind::row_skipped, "row_skipped", Severity::note,
     "Rows were skipped; with --fail-on-skip this fails the run"},
    {IntegrityKind::unfit_guest, "unfit_guest", Severity::note,
     "A guest was given up before its first row, because rows on it would be judged by less"},
    {IntegrityKind::host_trouble, "host_trouble", Severity::note,
     "A guest was not started at all, and another was tried: the host's trouble"},
    {IntegrityKind::not_judged, "not_judged", Severity::note,
     "The kernel lacks a detector: what it would find was not looked for"},
    {IntegrityKind::quarantine_stale, "quarantine_stale", Severity::note,
     "A quarantine is over, or names nothing: it excuses no row"},
    {IntegrityKind::image_incomplete, "image_incomplete", Severity::note,
     "Programs could not be put into the guest image: rows that need them are skipped"},
};

}  // namespace

std::string_view to_string(Severity severity) {
    switch (severity) {
        case Severity::note: return "note";
        case Severity::fail: return "fail";
        case Severity::error: return "error";
    }
    return "";
}

std::span<const IntegrityRule> integrity_rules() {
    return rules;
}

const IntegrityRule& rule_of(IntegrityKind kind) {
    return *std::find_if(std::begin(rules), std::end(rules),
                         [&](const IntegrityRule& rule) { return rule.kind == kind; });
}

std::string first_error(const Integrity& integrity) {
    for (const IntegrityRule& rule : rules) {
        for (const IntegrityEntry& entry : integrity.of(rule.kind)) {
            if (entry.severity == Severity::error) {
                return entry.text;
            }
        }
    }
    return {};
}

std::string describe(const IntegrityEntry& entry) {
    std::string where;
    if (entry.guest != 0) {
        where = fmt::format("guest {}", entry.guest);
    }
    if (!entry.row.empty()) {
        where += fmt::format("{}after {}", where.empty() ? "" : ", ", entry.row);
    }
    return fmt::format("{}{}{}{}", where, where.empty() ? "" : ": ", entry.text,
                       entry.count == 1 ? "" : fmt::format(" ({} times)", entry.count));
}

void Integrity::add(IntegrityKind kind, std::string text, unsigned guest, std::string row) {
    add({.kind = kind,
         .severity = rule_of(kind).severity,
         .text = std::move(text),
         .guest = guest,
         .row = std::move(row)});
}

void Integrity::add(IntegrityEntry entry) {
    const auto known =
        std::find_if(entries_.begin(), entries_.end(), [&](const IntegrityEntry& other) {
            return other.kind == entry.kind && other.severity == entry.severity &&
                   other.text == entry.text;
        });
    if (known == entries_.end()) {
        entries_.push_back(std::move(entry));
    } else {
        known->count += entry.count;
    }
}

std::vector<IntegrityEntry> Integrity::of(IntegrityKind kind) const {
    std::vector<IntegrityEntry> found;
    std::copy_if(entries_.begin(), entries_.end(), std::back_inserter(found),
                 [&](const IntegrityEntry& entry) { return entry.kind == kind; });
    return found;
}

unsigned Integrity::count(Severity severity) const {
    return static_cast<unsigned>(
        std::count_if(entries_.begin(), entries_.end(),
                      [&](const IntegrityEntry& entry) { return entry.severity == severity; }));
}

}  // namespace hotplug
