// SPDX-License-Identifier: GPL-2.0
// Purpose: see sweep_rows.h.
// Thread: the runner's.
#include "hotplug/sweep/sweep_rows.h"

#include <algorithm>

namespace hotplug {

std::string phase_name(const Row& row) {
    return row.variant == nullptr ? row.scenario->id : row.variant->name;
}

SweepRows::SweepRows(SweepPlan plan, SweepJournal& journal)
    : plan_(std::move(plan)), journal_(journal), last_(Deadline::Clock::now()) {
    for (const Row& row : plan_.phases) {
        phases_.push_back({row, {}, 0, false});
        plan_phase(phases_.back());
    }
}

bool SweepRows::left_out(const Phase& phase) const {
    return journal_.left_out().contains(phase_name(phase.row));
}

void SweepRows::plan_phase(Phase& phase) {
    const std::string name = phase_name(phase.row);
    if (!plan_.accesses.empty()) {
        phase.pending.assign(plan_.accesses.rbegin(), plan_.accesses.rend());
        phase.planned = phase.pending.size();
        phase.planned_yet = true;
        return;
    }
    const auto count = journal_.counts().find(name);
    if (count == journal_.counts().end()) {
        return;
    }
    const JournalIdentity& identity = journal_.identity();
    const auto points =
        plan_points(name, count->second, identity.amount, identity.seed, plan_.shard);
    phase.planned = points.size();
    phase.planned_yet = true;
    for (auto point = points.rbegin(); point != points.rend(); ++point) {
        if (!journal_.tried(name, point->access)) {
            phase.pending.push_back(point->access);
        }
    }
}

size_t SweepRows::size() const {
    size_t rows = 0;
    for (const Phase& phase : phases_) {
        if (!left_out(phase)) {
            rows += phase.planned_yet ? phase.pending.size() : 1 + journal_.identity().amount;
        }
    }
    return rows;
}

std::optional<Row> SweepRows::next() {
    under_way_ = nullptr;
    if (plan_.until.expired()) {
        return std::nullopt;
    }
    const auto share_left = [](const Phase& phase) {
        return static_cast<double>(phase.pending.size()) / static_cast<double>(phase.planned);
    };
    for (Phase& phase : phases_) {
        if (left_out(phase)) {
            continue;
        }
        if (!phase.planned_yet) {
            under_way_ = &phase;
            access_ = 0;
            return phase.row;
        }
        if (!phase.pending.empty() &&
            (under_way_ == nullptr || share_left(phase) > share_left(*under_way_))) {
            under_way_ = &phase;
        }
    }
    if (under_way_ == nullptr) {
        return std::nullopt;
    }
    access_ = under_way_->pending.back();
    under_way_->pending.pop_back();
    Row row = under_way_->row;
    row.access = access_;
    return row;
}

hp::Result<void> SweepRows::finished(const RowResult& result) {
    const std::string phase = phase_name(under_way_->row);
    const auto now = Deadline::Clock::now();
    const std::chrono::duration<double> seconds = now - last_;
    last_ = now;
    if (result.outcome == Outcome::skip) {
        return journal_.add_left_out(phase, result.skip_reason);
    }
    SweepPoint point = point_of(result, phase, access_);
    point.seconds = seconds.count();
    if (access_ == 0 && plan_.accesses.empty() && point.digest.empty()) {
        const auto why = explain(result);
        return journal_.add_left_out(
            phase, "its accesses could not be counted: " + (why.empty() ? "" : why.front()));
    }
    if (access_ == 0 && plan_.accesses.empty()) {
        if (auto counted = journal_.add_count(phase, point.accesses); !counted) {
            return counted;
        }
        plan_phase(*under_way_);
    }
    return journal_.add(std::move(point));
}

}  // namespace hotplug
