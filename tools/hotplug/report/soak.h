// SPDX-License-Identifier: GPL-2.0
// Purpose: what the cycles of a soak add up to: how many were done, what the kernel complained
// about and since when, which checks failed, how often the guest had to be booted anew. Thread:
// pure functions.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "hotplug/judge/verdict.h"

namespace hotplug {

struct SoakComplaint {
    ComplaintKind kind = ComplaintKind::trace;
    std::string title;
    int count = 0;
    unsigned cycles = 0;  ///< in which it came
    unsigned first_cycle = 0;
};

struct LostGuest {
    unsigned after_cycle = 0;
    std::string reason;
};

struct SoakLoss {
    unsigned cycles = 0;
    unsigned failed = 0;  ///< cycles of it in which a check failed
};

struct Soak {
    std::string row;  ///< without the cycle
    unsigned done = 0;
    unsigned replaced = 0;  ///< cycles that ended with a GPU that works
    std::map<Loss, SoakLoss> losses;
    std::vector<SoakComplaint> complaints;    ///< in the order of their first cycles
    std::map<Check, unsigned> failed_checks;  ///< in how many cycles
    std::vector<LostGuest> lost_guests;
    std::optional<uint64_t> mutations;  ///< nothing: no device was hostile
    unsigned honest = 0;                ///< cycles of a hostile device in which no lie was told
    std::map<std::string, unsigned> reached;  ///< how many cycles came so far
};

/// One for each row that was repeated.
std::vector<Soak> summarize_soaks(const std::vector<RowResult>& rows);

std::string format_soak(const Soak& soak);
nlohmann::ordered_json to_json(const Soak& soak);

}  // namespace hotplug
