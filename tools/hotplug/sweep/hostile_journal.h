// SPDX-License-Identifier: GPL-2.0
// Purpose: what the driver has been lied to about so far, cycle by cycle, in memory and in a file
// (journal_file.h). Thread: one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "hotplug/judge/findings.h"
#include "hotplug/judge/verdict.h"
#include "hotplug/sweep/journal_file.h"
#include "lib/result.h"

namespace hotplug {

/// One device that lied.
struct HostileCycle {
    uint64_t number = 0;   ///< from 1; the seed of its lies follows from it
    std::string scenario;  ///< "hostile-probe": the same place of another one is another place
    std::string row;       ///< "hostile-probe/registers"
    uint64_t lies = 0;
    std::map<std::string, SurfaceLies> surfaces{};
    std::map<std::string, bool> reached{};  ///< RowResult::reached
    bool passed = false;
    std::vector<Finding> failures{};
    double seconds = 0;  ///< since the cycle before, boots included
};

class HostileJournal {
public:
    static hp::Result<HostileJournal> open(const std::filesystem::path& file,
                                           const JournalIdentity& identity,
                                           const std::vector<std::string>& command);
    /// Only for reading: all files as one. Fails when they are not of one series.
    static hp::Result<HostileJournal> merge(std::span<const std::filesystem::path> files);

    const JournalIdentity& identity() const { return file_.identity(); }
    const std::vector<std::string>& command() const { return file_.command(); }
    /// Each number once, also where merged files have it twice.
    const std::vector<HostileCycle>& cycles() const { return cycles_; }
    /// Rows that the machine cannot run, and why. Not kept: they are tried again.
    const std::map<std::string, std::string>& left_out() const { return left_out_; }
    bool done(uint64_t number) const { return done_.contains(number); }
    /// What is known of the places that the scenario's driver asks for, by surface.
    const std::map<std::string, SurfaceLies>& known(const std::string& scenario) const;

    hp::Result<void> add(HostileCycle cycle);
    void leave_out(const std::string& row, const std::string& reason) { left_out_[row] = reason; }

private:
    HostileJournal() = default;
    void take(HostileCycle cycle);

    JournalFile file_;
    std::vector<HostileCycle> cycles_;
    std::map<std::string, std::string> left_out_;
    std::set<uint64_t> done_;
    std::map<std::string, std::map<std::string, SurfaceLies>> known_;  // by scenario
};

}  // namespace hotplug
