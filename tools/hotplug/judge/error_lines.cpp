// SPDX-License-Identifier: GPL-2.0
// Purpose: see error_lines.h.
// Thread: pure functions.
#include "hotplug/judge/error_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "hotplug/values/loss_kind.h"

namespace hotplug {

namespace {

/// Causes that no row has a part in.
constexpr std::string_view in_any_row[] = {
    // 6.12 of a board that no driver has seen before: its RAS EEPROM is blank.
    "RAS header invalid, unsupported version: 4294967295",
    // 6.12 of a virtual function: the fan is its host's (EOPNOTSUPP).
    "enable mgpu fan boost failed (-95)",
    // 6.16 of a virtual function: the memory partitions are its host's. In 7.3 it is a warning.
    "Not able to detect NPS mode, fall back to NPS1",
    // The driver's own stopwatch, of a second: a host that is slow enough makes it fail. A GPU that
    // is of no use for it fails `replug`, or its clients.
    "IB test failed on ",
    "ib ring test failed (",
};

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

/// A part that begins with ^ has to be the line's beginning.
bool matches(std::string_view text, std::string_view part) {
    return part.starts_with('^') ? text.starts_with(part.substr(1)) : contains(text, part);
}

bool follows_from(const LossTimeline& loss, std::string_view line) {
    const auto& said = kind_of(loss.loss).may_log;
    return std::any_of(said.begin(), said.end(), [&](std::string_view part) {
        return contains(line, fill_in(part, "", loss.bdf));
    });
}

}  // namespace

CheckResult check_error_lines(const KernelLogSummary& log, const std::vector<Episode>& episodes,
                              const std::vector<std::string>& may_log) {
    CheckResult result = {.check = Check::error_lines};
    int known = 0;
    int unknown = 0;
    for (const KernelNote& note : log.notes) {
        const auto said = [&](std::string_view part) { return matches(note.text, part); };
        if (std::any_of(std::begin(in_any_row), std::end(in_any_row), said) ||
            std::any_of(may_log.begin(), may_log.end(), said) ||
            note.count <= std::count_if(episodes.begin(), episodes.end(), [&](const Episode& one) {
                return follows_from(one.loss, note.text);
            })) {
            known += note.count;
            continue;
        }
        unknown += note.count;
        result.passed = false;
        result.evidence.push_back(
            format_record(note.time_us, note.text) +
            (note.count > 1 ? fmt::format(" ({} times)", note.count) : std::string()));
    }
    result.value = unknown != 0 ? fmt::format("{} unaccounted for", unknown)
                   : known != 0 ? fmt::format("{} accounted for", known)
                                : "none";
    return result;
}

}  // namespace hotplug
