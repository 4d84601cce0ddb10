// SPDX-License-Identifier: GPL-2.0
// Purpose: what a sweep has found out so far, in memory and as JSON lines in a file, so that it can
// be broken off and go on, and so that the files of several shards make one result.
// Thread: one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "hotplug/judge/findings.h"
#include "hotplug/judge/verdict.h"
#include "lib/result.h"

namespace hotplug {

/// What has to be the same for results to be added up.
struct SweepIdentity {
    std::string kernel;  ///< its content: kernel_identity()
    std::string profile;
    unsigned cpus = 0;
    uint64_t seed = 0;
    uint64_t points = 0;  ///< wanted for each phase; 0: all

    bool operator==(const SweepIdentity&) const = default;
};

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
                                         const SweepIdentity& identity,
                                         const std::vector<std::string>& command);
    /// Only for reading: all files as one. Fails when they are not of one sweep.
    static hp::Result<SweepJournal> merge(std::span<const std::filesystem::path> files);

    const SweepIdentity& identity() const { return identity_; }
    /// Arguments of hpctl that a replay needs.
    const std::vector<std::string>& command() const { return command_; }
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
    hp::Result<void> load(const std::filesystem::path& file);
    hp::Result<void> write(const std::string& line) const;
    void take(SweepPoint point);

    std::filesystem::path file_;  // empty: read only
    SweepIdentity identity_;
    std::vector<std::string> command_;
    std::map<std::string, uint64_t> counts_;
    std::map<std::string, std::string> left_out_;
    std::vector<SweepPoint> points_;
    std::set<std::pair<std::string, uint64_t>> tried_;
};

}  // namespace hotplug
