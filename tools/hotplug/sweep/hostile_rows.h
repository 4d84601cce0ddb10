// SPDX-License-Identifier: GPL-2.0
// Purpose: the rows of `hpctl hostile`: cycle after cycle of a device that lies, each on the
// surface that the draw names. One of which the driver has been told few lies is drawn more often.
// Thread: the runner's.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hotplug/base/deadline.h"
#include "hotplug/run/runner.h"
#include "hotplug/scenario/catalogue.h"
#include "hotplug/sweep/hostile_journal.h"
#include "hotplug/sweep/sweep_points.h"

namespace hotplug {

struct HostilePlan {
    std::vector<Row> rows;  ///< one for each variant
    Shard shard;
    /// The series ends with the cycle that is under way then.
    Deadline until = Deadline::after(std::chrono::hours(24 * 365));
};

/// The surfaces that the device lies on in this row.
std::set<std::string> surfaces_of(const Row& row);

/// The share of the places that the driver asks for of which it has not been lied to about, from 0
/// to 1; 1 where nobody knows yet what it asks for.
double share_untold(const Row& row, const HostileJournal& journal);

class HostileRows final : public RowSource {
public:
    /// `journal` outlives it and tells what was done before.
    HostileRows(HostilePlan plan, HostileJournal& journal);

    size_t size() const override { return pending_.size(); }
    std::optional<Row> next() override;
    hp::Result<void> finished(const RowResult& result) override;

private:
    /// Nothing: none is left that the machine can run.
    std::optional<Row> draw(uint64_t cycle) const;

    HostilePlan plan_;
    HostileJournal& journal_;
    std::vector<uint64_t> pending_;  // numbers of cycles, the next one last
    std::optional<Row> under_way_;
    Deadline::Clock::time_point last_;
};

}  // namespace hotplug
