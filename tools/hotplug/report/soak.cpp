// SPDX-License-Identifier: GPL-2.0
// Purpose: see soak.h.
// Thread: pure functions.
#include "hotplug/report/soak.h"

#include <fmt/format.h>

#include <algorithm>

namespace hotplug {

namespace {

Soak& soak_of(std::vector<Soak>& soaks, const std::string& row) {
    const auto found =
        std::find_if(soaks.begin(), soaks.end(), [&](const Soak& soak) { return soak.row == row; });
    if (found != soaks.end()) {
        return *found;
    }
    Soak& soak = soaks.emplace_back();
    soak.row = row;
    return soak;
}

void add(std::vector<SoakComplaint>& all, const Complaint& complaint, unsigned cycle) {
    auto found = std::find_if(all.begin(), all.end(), [&](const SoakComplaint& other) {
        return other.title == complaint.title;
    });
    if (found == all.end()) {
        all.push_back({.kind = complaint.kind, .title = complaint.title, .first_cycle = cycle});
        found = all.end() - 1;
    }
    found->count += complaint.count;
    ++found->cycles;
}

bool replaced(const RowResult& row) {
    return !row.episodes.empty() && row.episodes.back().first_job &&
           row.episodes.back().replug_failure.empty();
}

void add(Soak& soak, const RowResult& row) {
    ++soak.done;
    soak.replaced += replaced(row) ? 1 : 0;
    for (const Complaint& complaint : row.kernel_log.complaints) {
        add(soak.complaints, complaint, row.cycle);
    }
    if (row.mutations) {
        soak.mutations = soak.mutations.value_or(0) + *row.mutations;
        soak.honest += *row.mutations == 0 ? 1 : 0;
    }
    for (const auto& [name, reached] : row.reached) {
        soak.reached[name] += reached ? 1 : 0;
    }
    bool failed = false;
    for (const CheckResult& check : row.checks) {
        if (!check.passed) {
            failed = true;
            ++soak.failed_checks[check.check];
        }
    }
    for (const Episode& episode : row.episodes) {
        SoakLoss& loss = soak.losses[episode.loss.loss];
        ++loss.cycles;
        loss.failed += failed ? 1 : 0;
    }
    if (!row.unfit.empty()) {
        soak.lost_guests.push_back({row.cycle, row.unfit});
    }
}

}  // namespace

std::vector<Soak> summarize_soaks(const std::vector<RowResult>& rows) {
    std::vector<Soak> soaks;
    for (const RowResult& row : rows) {
        if (row.cycle != 0 && row.outcome != Outcome::skip) {
            add(soak_of(soaks, row.expected_key), row);
        }
    }
    return soaks;
}

std::string format_soak(const Soak& soak) {
    std::string text =
        fmt::format("{}: {} cycles, {} ended with a GPU that works, guest given up after {}\n",
                    soak.row, soak.done, soak.replaced, soak.lost_guests.size());
    if (soak.mutations) {
        text += fmt::format("  the device told {} lies, none in {} cycles\n", *soak.mutations,
                            soak.honest);
    }
    for (const auto& [name, cycles] : soak.reached) {
        text += fmt::format("  {}: reached in {} of {} cycles\n", name, cycles, soak.done);
    }
    if (soak.losses.size() > 1) {
        for (const auto& [loss, count] : soak.losses) {
            text += fmt::format("  {:<15} {:>4} cycles, {} with a check that failed\n",
                                to_string(loss), count.cycles, count.failed);
        }
    }
    if (!soak.complaints.empty()) {
        text += fmt::format("  {:>5}  {:>6}  {:>5}  {:<15}  {}\n", "times", "cycles", "first",
                            "kind", "complaint");
    }
    for (const SoakComplaint& complaint : soak.complaints) {
        text +=
            fmt::format("  {:>5}  {:>6}  {:>5}  {:<15}  {}\n", complaint.count, complaint.cycles,
                        complaint.first_cycle, to_string(complaint.kind), complaint.title);
    }
    for (const auto& [check, cycles] : soak.failed_checks) {
        text += fmt::format("  check {} failed in {} cycles\n", to_string(check), cycles);
    }
    for (const LostGuest& guest : soak.lost_guests) {
        text +=
            fmt::format("  guest given up after cycle {}: {}\n", guest.after_cycle, guest.reason);
    }
    return text;
}

nlohmann::ordered_json to_json(const Soak& soak) {
    using json = nlohmann::ordered_json;
    json complaints = json::array();
    for (const SoakComplaint& complaint : soak.complaints) {
        complaints.push_back({{"kind", std::string(to_string(complaint.kind))},
                              {"title", complaint.title},
                              {"count", complaint.count},
                              {"cycles", complaint.cycles},
                              {"first_cycle", complaint.first_cycle}});
    }
    json losses = json::object();
    for (const auto& [loss, count] : soak.losses) {
        losses[std::string(to_string(loss))] = {{"cycles", count.cycles}, {"failed", count.failed}};
    }
    json checks = json::object();
    for (const auto& [check, cycles] : soak.failed_checks) {
        checks[std::string(to_string(check))] = cycles;
    }
    json guests = json::array();
    for (const LostGuest& guest : soak.lost_guests) {
        guests.push_back({{"after_cycle", guest.after_cycle}, {"reason", guest.reason}});
    }
    return {{"row", soak.row},
            {"cycles", soak.done},
            {"replaced", soak.replaced},
            {"losses", losses},
            {"complaints", complaints},
            {"failed_checks", checks},
            {"lost_guests", guests},
            {"mutations", soak.mutations ? json(*soak.mutations) : json(nullptr)},
            {"honest_cycles", soak.honest},
            {"reached", soak.reached}};
}

}  // namespace hotplug
