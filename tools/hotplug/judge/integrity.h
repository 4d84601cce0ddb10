// SPDX-License-Identifier: GPL-2.0
// Purpose: what makes a run worth less than its rows say: complaints outside of any row, boots that
// were tried again, rows that were skipped, what nobody could judge. One table says of each kind
// whether it fails the run. Thread: values and pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hotplug {

enum class IntegrityKind {
    unfinished,
    ended_early,
    harness_fault,
    out_of_time,
    not_run,
    late_complaint,
    boot_failed,
    nothing_judged,
    options_unknown,
    leaks_unseen,
    output_cut,
    row_skipped,
    unfit_guest,
    host_trouble,
    not_judged,
    quarantine_stale,
    image_incomplete,
};

/// `note`: said, and the run may pass. `fail`: the run fails. `error`: the harness could not do its
/// part, which says nothing about the driver.
enum class Severity { note, fail, error };

std::string_view to_string(Severity severity);

struct IntegrityRule {
    IntegrityKind kind;
    std::string_view name;
    Severity severity;
    std::string_view meaning;  ///< a sentence without its end, for the reader of a report
};

/// All kinds, the worst first. Documentation/harness/checks.md shows the same table.
std::span<const IntegrityRule> integrity_rules();
const IntegrityRule& rule_of(IntegrityKind kind);

struct IntegrityEntry {
    IntegrityKind kind;
    Severity severity;
    std::string text;
    unsigned guest = 0;  ///< which boot of the run, from 1; 0: none in particular
    std::string row{};   ///< the last one on that guest; empty: none in particular
    unsigned count = 1;  ///< how often it came, on whichever guest
};

class Integrity;

/// The first entry that is an error, the worst kind first; empty: none.
std::string first_error(const Integrity& integrity);

/// "guest 2, after slot-power/idle: WARNING in f (3 times)"
std::string describe(const IntegrityEntry& entry);

class Integrity {
public:
    /// One that is there already, on whichever guest, is counted.
    void add(IntegrityKind kind, std::string text, unsigned guest = 0, std::string row = {});
    void add(IntegrityEntry entry);

    const std::vector<IntegrityEntry>& entries() const { return entries_; }
    std::vector<IntegrityEntry> of(IntegrityKind kind) const;
    /// How many have this severity, and how many have one above `note`.
    unsigned count(Severity severity) const;
    unsigned flaws() const { return count(Severity::fail) + count(Severity::error); }
    bool sound() const { return flaws() == 0; }

private:
    std::vector<IntegrityEntry> entries_;
};

}  // namespace hotplug
