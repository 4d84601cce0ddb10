// SPDX-License-Identifier: GPL-2.0
// Purpose: see hostile_report.h.
// Thread: pure functions.
#include "hotplug/sweep/hostile_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "lib/counted.h"

namespace hotplug {

namespace {

constexpr size_t cycles_shown = 8;

struct RowSum {
    std::vector<uint64_t> lies;  // of each cycle
    size_t failed = 0;
    std::map<std::string, size_t> reached;  // how many cycles came so far
};

uint64_t median(std::vector<uint64_t> numbers) {
    const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
    std::nth_element(numbers.begin(), middle, numbers.end());
    return *middle;
}

uint64_t sum_of(const std::vector<uint64_t>& numbers) {
    uint64_t sum = 0;
    for (const uint64_t number : numbers) {
        sum += number;
    }
    return sum;
}

std::string format_sum(const std::string& name, const RowSum& sum) {
    std::string text =
        fmt::format("{:<28}{:>8}{:>8}{:>8}{:>8}{:>8}", name, sum.lies.size(), sum_of(sum.lies),
                    median(sum.lies), std::ranges::count(sum.lies, 0u), sum.failed);
    for (const auto& [milestone, cycles] : sum.reached) {
        text += fmt::format("  {} {}", milestone, cycles);
    }
    return text + "\n";
}

std::string format_rows(const HostileJournal& journal) {
    std::map<std::string, RowSum> sums;
    RowSum all;
    for (const HostileCycle& cycle : journal.cycles()) {
        for (RowSum* sum : {&sums[cycle.row], &all}) {
            sum->lies.push_back(cycle.lies);
            sum->failed += cycle.passed ? 0 : 1;
        }
        for (const auto& [name, reached] : cycle.reached) {
            sums[cycle.row].reached[name] += reached ? 1 : 0;
        }
    }
    std::string text = fmt::format("{:<28}{:>8}{:>8}{:>8}{:>8}{:>8}  reached\n", "row", "cycles",
                                   "lies", "median", "honest", "failed");
    for (const auto& [row, sum] : sums) {
        text += format_sum(row, sum);
    }
    if (!all.lies.empty()) {
        text += format_sum("all", all);
    }
    for (const auto& [row, reason] : journal.left_out()) {
        text += fmt::format("{:<28}left out: {}\n", row, reason);
    }
    return text;
}

std::string format_places(const HostileJournal& journal) {
    std::set<std::string> scenarios;
    for (const HostileCycle& cycle : journal.cycles()) {
        scenarios.insert(cycle.scenario);
    }
    std::string text = fmt::format("\n{:<28}{:>8}{:>8}\n", "places of a surface", "asked", "told");
    for (const std::string& scenario : scenarios) {
        for (const auto& [surface, lies] : journal.known(scenario)) {
            text += fmt::format("{:<28}{:>8}{:>8}\n", fmt::format("{} {}", scenario, surface),
                                lies.asked, lies.told.size());
        }
    }
    return text;
}

std::string format_pace(const HostileJournal& journal) {
    double seconds = 0;
    for (const HostileCycle& cycle : journal.cycles()) {
        seconds += cycle.seconds;
    }
    const size_t cycles = journal.cycles().size();
    return fmt::format("{} of {} in {:.0f} s, boots included: {:.0f} cycles per hour\n",
                       hp::counted(cycles, "cycle"), journal.identity().amount, seconds,
                       seconds > 0 ? static_cast<double>(cycles) * 3600 / seconds : 0);
}

/// A row of `hpctl run` is the same cycle: its seed follows from that of the series and its number.
std::string replay_command(const HostileJournal& journal, const HostileCycle& cycle) {
    return fmt::format("hpctl run {}/{} {}", cycle.row, cycle.number,
                       fmt::join(journal.command(), " "));
}

}  // namespace

std::vector<std::string> replay_commands(const HostileJournal& journal) {
    std::vector<std::string> commands;
    for (const HostileCycle& cycle : journal.cycles()) {
        if (!cycle.passed) {
            commands.push_back(replay_command(journal, cycle));
        }
    }
    return commands;
}

std::string format_hostile(const HostileJournal& journal) {
    std::string text = format_rows(journal) + format_places(journal) + format_pace(journal);
    std::vector<std::vector<Finding>> places;
    for (const HostileCycle& cycle : journal.cycles()) {
        places.push_back(cycle.failures);
    }
    const auto groups = group_findings(places);
    if (!groups.empty()) {
        text += fmt::format("\n{} failed, in {}:\n",
                            hp::counted(replay_commands(journal).size(), "cycle"),
                            hp::counted(groups.size(), "group"));
    }
    for (const FindingGroup& group : groups) {
        text += format_group(group, hp::counted(group.places.size(), "cycle"));
        const size_t shown = std::min(cycles_shown, group.places.size());
        text += "  in";
        for (size_t i = 0; i < shown; ++i) {
            const HostileCycle& cycle = journal.cycles()[group.places[i]];
            text += fmt::format(" {}/{}", cycle.row, cycle.number);
        }
        text += shown < group.places.size()
                    ? fmt::format(" and {} more\n", group.places.size() - shown)
                    : "\n";
        text += "  " + replay_command(journal, journal.cycles()[group.places.front()]) + "\n";
    }
    return text;
}

}  // namespace hotplug
