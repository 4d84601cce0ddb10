// SPDX-License-Identifier: GPL-2.0
// Purpose: see findings.h.
// Thread: pure functions.
#include "hotplug/judge/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "lib/counted.h"

namespace hotplug {

namespace {

using json = nlohmann::ordered_json;

/// So many frames tell two stacks apart; below them is how the kernel came there.
constexpr size_t frames_of_key = 5;

/// Numbers differ from run to run: times, addresses, counts.
std::string without_numbers(const std::string& text) {
    std::string out;
    bool number = false;
    for (const char c : text.substr(0, text.find('\n'))) {
        const bool digit = c >= '0' && c <= '9';
        if (!digit) {
            out += c;
        } else if (!number) {
            out += '#';
        }
        number = digit;
    }
    return out;
}

/// What of a GPU that was gone was touched most, among the accesses that are on record.
std::string most_touched(const RowResult& row) {
    std::map<std::string, size_t> counts;
    for (const Episode& episode : row.episodes) {
        for (const LateAccess& access : episode.accesses.first) {
            ++counts[access.kind + " " + access.name];
        }
    }
    const auto most =
        std::max_element(counts.begin(), counts.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == counts.end() ? std::string() : ", most of them " + most->first;
}

/// A check that failed where the kernel complained: most likely the complaint's work.
bool is_consequence(const Finding& finding, const std::vector<Finding>& beside) {
    return finding.stack.empty() &&
           std::any_of(beside.begin(), beside.end(),
                       [](const Finding& other) { return !other.stack.empty(); });
}

/// What failed in the cycles of a run.
struct FailedCycles {
    std::vector<const RowResult*> rows;
    std::vector<FindingGroup> groups;  // places are indices of `rows`
};

FailedCycles failed_cycles(const RunReport& report) {
    FailedCycles failed;
    std::vector<std::vector<Finding>> places;
    for (const RowResult& row : report.rows) {
        if (row.cycle != 0 && row.outcome == Outcome::fail) {
            failed.rows.push_back(&row);
            places.push_back(findings_of(row));
        }
    }
    failed.groups = group_findings(places);
    return failed;
}

/// The run's own command with this row in place of those that were asked for, which stand before
/// the options.
std::string replay_of(const RunInfo& info, const RowResult& row) {
    const auto options =
        std::find_if(info.command.begin(), info.command.end(),
                     [](const std::string& word) { return word.starts_with("--"); });
    return fmt::format("hpctl run {} {}", row.name, fmt::join(options, info.command.end(), " "));
}

std::vector<std::string> ids_of(const FailedCycles& failed, const FindingGroup& group) {
    std::vector<std::string> ids;
    for (const size_t place : group.places) {
        ids.push_back(failed.rows[place]->id);
    }
    return ids;
}

}  // namespace

std::string Finding::key() const {
    std::string key = title;
    for (size_t i = 0; i < std::min(frames_of_key, stack.size()); ++i) {
        key += (i == 0 ? " | " : " < ") + stack[i];
    }
    return key;
}

std::vector<Finding> findings_of(const RowResult& row) {
    std::vector<Finding> findings;
    for (const Complaint& complaint : row.kernel_log.complaints) {
        findings.push_back({complaint.title, complaint.stack});
    }
    for (const CheckResult& check : row.checks) {
        if (!check.passed && check.check != Check::log_clean) {
            const std::string& said = check.evidence.empty() ? check.value : check.evidence.front();
            findings.push_back(
                {fmt::format("{}: {}{}", to_string(check.check), without_numbers(said),
                             check.check == Check::no_access ? most_touched(row) : ""),
                 {}});
        }
    }
    return findings;
}

std::vector<FindingGroup> group_findings(std::span<const std::vector<Finding>> places) {
    std::vector<FindingGroup> groups;
    for (size_t place = 0; place < places.size(); ++place) {
        const std::vector<Finding>& findings = places[place];
        std::set<std::string> consequences;
        for (const Finding& finding : findings) {
            if (is_consequence(finding, findings)) {
                consequences.insert(finding.title);
            }
        }
        for (const Finding& finding : findings) {
            if (is_consequence(finding, findings)) {
                continue;
            }
            auto same = std::find_if(groups.begin(), groups.end(), [&](const FindingGroup& group) {
                return group.finding.key() == finding.key();
            });
            if (same == groups.end()) {
                same = groups.insert(groups.end(), {finding, {}, {}});
            }
            if (same->places.empty() || same->places.back() != place) {
                same->places.push_back(place);
            }
            same->consequences.insert(consequences.begin(), consequences.end());
        }
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const FindingGroup& a, const FindingGroup& b) {
                         return a.places.size() > b.places.size();
                     });
    return groups;
}

std::string format_group(const FindingGroup& group, std::string_view times) {
    std::string text = fmt::format("\n{}: {}\n", times, group.finding.title);
    for (const std::string& frame : group.finding.stack) {
        text += "    " + frame + "\n";
    }
    for (const std::string& consequence : group.consequences) {
        text += "  with it, " + consequence + "\n";
    }
    return text;
}

std::string format_findings(const RunReport& report) {
    const FailedCycles failed = failed_cycles(report);
    if (failed.rows.empty()) {
        return {};
    }
    std::string text = fmt::format("{} failed, in {}:\n", hp::counted(failed.rows.size(), "cycle"),
                                   hp::counted(failed.groups.size(), "group"));
    for (const FindingGroup& group : failed.groups) {
        text += format_group(group, hp::counted(group.places.size(), "cycle"));
        text += fmt::format("  in {}\n  {}\n", fmt::join(ids_of(failed, group), " "),
                            replay_of(report.info, *failed.rows[group.places.front()]));
    }
    return text;
}

json findings_json(const RunReport& report) {
    const FailedCycles failed = failed_cycles(report);
    json list = json::array();
    for (const FindingGroup& group : failed.groups) {
        list.push_back({{"title", group.finding.title},
                        {"stack", group.finding.stack},
                        {"with_it", group.consequences},
                        {"rows", ids_of(failed, group)},
                        {"replay", replay_of(report.info, *failed.rows[group.places.front()])}});
    }
    return list;
}

}  // namespace hotplug
