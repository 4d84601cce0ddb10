// SPDX-License-Identifier: GPL-2.0
// Purpose: the rows of a sweep, one point after the other: first each phase once to its end, to
// count its accesses, then its points, the phases taking turns. Thread: the runner's.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hotplug/base/deadline.h"
#include "hotplug/run/runner.h"
#include "hotplug/scenario/catalogue.h"
#include "hotplug/sweep/sweep_journal.h"
#include "hotplug/sweep/sweep_points.h"

namespace hotplug {

struct SweepPlan {
    std::vector<Row> phases;  ///< one row for each, see phase_name()
    Shard shard;
    /// Not empty: these accesses of each phase, whether they were tried before or not.
    std::vector<uint64_t> accesses;
    /// The sweep ends with the point that is under way then.
    Deadline until = Deadline::after(std::chrono::hours(24 * 365));
};

/// "probe" of "sweep/probe".
std::string phase_name(const Row& row);

class SweepRows final : public RowSource {
public:
    /// `journal` outlives it and tells what was done before.
    SweepRows(SweepPlan plan, SweepJournal& journal);

    size_t size() const override;
    std::optional<Row> next() override;
    hp::Result<void> finished(const RowResult& result) override;

private:
    struct Phase {
        Row row;
        std::vector<uint64_t> pending;  // accesses to try, the next one last
        size_t planned = 0;
        bool planned_yet = false;
    };

    bool left_out(const Phase& phase) const;
    void plan_phase(Phase& phase);

    SweepPlan plan_;
    SweepJournal& journal_;
    std::vector<Phase> phases_;
    Phase* under_way_ = nullptr;
    uint64_t access_ = 0;
    Deadline::Clock::time_point last_;
};

}  // namespace hotplug
