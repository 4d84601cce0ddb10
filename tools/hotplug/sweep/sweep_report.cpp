// SPDX-License-Identifier: GPL-2.0
// Purpose: see sweep_report.h.
// Thread: pure functions.
#include "hotplug/sweep/sweep_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "hotplug/judge/findings.h"
#include "hotplug/sweep/sweep_points.h"
#include "lib/counted.h"

namespace hotplug {

namespace {

/// Phases of the driver's life in which there is nothing to be tried.
constexpr std::pair<std::string_view, std::string_view> no_phase[] = {
    {"surprise-teardown",
     "the board is off the bus before its first access: every point of the other phases ends with "
     "one, and the check no_access counts what it touches"},
};
constexpr size_t accesses_shown = 8;

struct PhaseSum {
    std::set<uint64_t> tried;
    std::set<uint64_t> failed;
    std::optional<uint64_t> late;  ///< at most, of a point
};

std::string percent(uint64_t part, uint64_t of) {
    return of == 0
               ? "-"
               : fmt::format("{:.2f} %", 100 * static_cast<double>(part) / static_cast<double>(of));
}

std::string format_phases(const SweepJournal& journal) {
    std::map<std::string, PhaseSum> sums;
    for (const SweepPoint& point : journal.points()) {
        PhaseSum& sum = sums[point.phase];
        sum.tried.insert(point.access);
        sum.late = std::max(sum.late, point.late);  // one that is not known is the least
        if (!point.passed) {
            sum.failed.insert(point.access);
        }
    }
    std::string text = fmt::format("{:<20}{:>10}{:>8}{:>8}{:>10}{:>8}{:>8}\n", "phase", "accesses",
                                   "points", "tried", "share", "failed", "late");
    for (const auto& [phase, sum] : sums) {
        const auto count = journal.counts().find(phase);
        const uint64_t accesses = count == journal.counts().end() ? 0 : count->second;
        const uint64_t tried = sum.tried.size() - sum.tried.count(0);  // 0: its end, no access
        text += fmt::format(
            "{:<20}{:>10}{:>8}{:>8}{:>10}{:>8}{:>8}\n", phase,
            accesses == 0 ? "-" : std::to_string(accesses),
            accesses == 0 ? "-" : std::to_string(point_count(accesses, journal.identity().amount)),
            tried, percent(tried, accesses), sum.failed.size(),
            sum.late ? std::to_string(*sum.late) : "-");
    }
    for (const auto& [phase, reason] : journal.left_out()) {
        text += fmt::format("{:<20}left out: {}\n", phase, reason);
    }
    for (const auto& [phase, reason] : no_phase) {
        text += fmt::format("{:<20}no points: {}\n", phase, reason);
    }
    return text;
}

std::string format_pace(const SweepJournal& journal) {
    double seconds = 0;
    for (const SweepPoint& point : journal.points()) {
        seconds += point.seconds;
    }
    const size_t points = journal.points().size();
    return fmt::format("{} points tried in {:.0f} s, boots included: {:.0f} points per hour\n",
                       points, seconds,
                       seconds > 0 ? static_cast<double>(points) * 3600 / seconds : 0);
}

std::string format_repeats(const SweepJournal& journal) {
    std::map<std::pair<std::string, uint64_t>, std::vector<const SweepPoint*>> tries;
    for (const SweepPoint& point : journal.points()) {
        if (!point.digest.empty()) {
            tries[{point.phase, point.access}].push_back(&point);
        }
    }
    size_t repeated = 0, same = 0, cpu_same = 0, verdicts = 0;
    for (const auto& entry : tries) {
        const auto& points = entry.second;
        if (points.size() < 2) {
            continue;
        }
        const auto all = [&](auto member) {
            return std::all_of(points.begin(), points.end(), [&](const SweepPoint* point) {
                return point->*member == points.front()->*member;
            });
        };
        ++repeated;
        same += all(&SweepPoint::digest);
        cpu_same += all(&SweepPoint::cpu_digest);
        verdicts += all(&SweepPoint::passed);
    }
    if (repeated == 0) {
        return {};
    }
    return fmt::format(
        "{} points were tried more than once: the accesses before the loss were the same for {}, "
        "those of the CPU for {}, the verdict for {}\n",
        repeated, same, cpu_same, verdicts);
}

std::string format_points(const SweepJournal& journal, const FindingGroup& group) {
    std::vector<std::string> accesses;
    for (const size_t place : group.places) {
        const SweepPoint& point = journal.points()[place];
        accesses.push_back(point.access == 0 ? point.phase + "@end"
                                             : fmt::format("{}@{}", point.phase, point.access));
    }
    std::sort(accesses.begin(), accesses.end());
    accesses.erase(std::unique(accesses.begin(), accesses.end()), accesses.end());
    std::string text = format_group(group, hp::counted(accesses.size(), "point"));
    const size_t shown = std::min(accesses_shown, accesses.size());
    text += fmt::format(
        "  at {}{}\n",
        fmt::join(accesses.begin(), accesses.begin() + static_cast<std::ptrdiff_t>(shown), " "),
        shown < accesses.size() ? fmt::format(" and {} more", accesses.size() - shown) : "");
    const SweepPoint& first = journal.points()[group.places.front()];
    text += fmt::format("  first: {}{}\n", first.phase,
                        first.at.empty() ? ", when it had ended" : ", gone before " + first.at);
    return text + "  " + replay_command(journal, first) + "\n";
}

}  // namespace

std::string replay_command(const SweepJournal& journal, const SweepPoint& point) {
    return fmt::format("hpctl sweep {} --at {} {}", point.phase, point.access,
                       fmt::join(journal.command(), " "));
}

std::vector<std::string> replay_commands(const SweepJournal& journal) {
    std::vector<std::string> commands;
    for (const SweepPoint& point : journal.points()) {
        if (!point.passed) {
            commands.push_back(replay_command(journal, point));
        }
    }
    std::sort(commands.begin(), commands.end());
    commands.erase(std::unique(commands.begin(), commands.end()), commands.end());
    return commands;
}

std::string format_sweep(const SweepJournal& journal) {
    std::string text = format_phases(journal) + format_pace(journal) + format_repeats(journal);
    std::vector<std::vector<Finding>> places;
    for (const SweepPoint& point : journal.points()) {
        places.push_back(point.failures);
    }
    const auto groups = group_findings(places);
    if (!groups.empty()) {
        text += fmt::format("\n{} failed, in {}:\n",
                            hp::counted(replay_commands(journal).size(), "point"),
                            hp::counted(groups.size(), "group"));
    }
    for (const FindingGroup& group : groups) {
        text += format_points(journal, group);
    }
    return text;
}

}  // namespace hotplug
