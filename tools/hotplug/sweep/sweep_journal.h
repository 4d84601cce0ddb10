// SPDX-License-Identifier: GPL-2.0
// Purpose: what a sweep has found out so far, in memory and as JSON lines in a file, so that it can
// be broken off and go on, and so that the files of several shards make one result.
// Thread: one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "hotplug/judge/findings.h"
#include "hotplug/judge/verdict.h"
#include "hotplug/sweep/journal_file.h"
#include "lib/result.h"

namespace hotplug {

/// One removal.
struct SweepPoint {
    std::string phase;
    uint64_t access = 0;    ///< asked for; 0: when the phase had ended
    uint64_t accesses = 0;  ///< made before the GPU vanished
    std::string at;         ///< the access that found nobody; empty: the phase had ended before
    std::string digest;     ///< of the accesses made before
    std::string cpu_digest;
    /// Accesses made to the GPU when it was gone, which no_access counts. Nothing: the journal is
    /// of before they were noted.
    std::optional<uint64_t> late;
    bool passed = false;
    std::vector<Finding> failures;
    double seconds = 0;  ///< since the point before, boots included
};

/// What a row of a phase came to. Where the harness could not take the GPU away, `digest` is empty.
SweepPoint point_of(const RowResult& row, const std::string& phase, uint64_t access);

class SweepJournal {
public:
    /// Reads what is there and goes on writing behind it; phases that were left out are tried
    /// again. Fails when it is of another sweep. A last line that was cut off is dropped.
    static hp::Result<SweepJournal> open(const std::filesystem::path& file,
                                         const JournalIdentity& identity,
                                         const std::vector<std::string>& command);
    /// Only for reading: all files as one. Fails when they are not of one sweep.
    static hp::Result<SweepJournal> merge(std::span<const std::filesystem::path> files);

    const JournalIdentity& identity() const { return file_.identity(); }
    /// Arguments of hpctl that a replay needs.
    const std::vector<std::string>& command() const { return file_.command(); }
    /// How many accesses each phase makes.
    const std::map<std::string, uint64_t>& counts() const { return counts_; }
    /// Phases that were not swept, and why.
    const std::map<std::string, std::string>& left_out() const { return left_out_; }
    const std::vector<SweepPoint>& points() const { return points_; }
    bool tried(const std::string& phase, uint64_t access) const {
        return tried_.contains({phase, access});
    }

    hp::Result<void> add_count(const std::string& phase, uint64_t accesses);
    hp::Result<void> add_left_out(const std::string& phase, const std::string& reason);
    hp::Result<void> add(SweepPoint point);

private:
    SweepJournal() = default;
    void take(const nlohmann::ordered_json& line);
    void take(SweepPoint point);

    JournalFile file_;
    std::map<std::string, uint64_t> counts_;
    std::map<std::string, std::string> left_out_;
    std::vector<SweepPoint> points_;
    std::set<std::pair<std::string, uint64_t>> tried_;
};

}  // namespace hotplug
