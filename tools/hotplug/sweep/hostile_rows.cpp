// SPDX-License-Identifier: GPL-2.0
// Purpose: see hostile_rows.h.
// Thread: the runner's.
#include "hotplug/sweep/hostile_rows.h"

#include <algorithm>
#include <numeric>

namespace hotplug {

namespace {

/// Of a row whose every place was lied about: other lies about the same places are still tries.
constexpr double least_weight = 0.1;

}  // namespace

std::set<std::string> surfaces_of(const Row& row) {
    std::set<std::string> surfaces;
    for (const Step& step : row.steps()) {
        if (const auto* emulate = std::get_if<EmulateStep>(&step); emulate && emulate->hostile()) {
            for (const auto& name : emulate->request.at("surface")) {
                surfaces.insert(name.get<std::string>());
            }
        }
    }
    return surfaces;
}

double share_untold(const Row& row, const HostileJournal& journal) {
    const auto& known = journal.known(row.scenario->id);
    uint64_t asked = 0, told = 0;
    for (const std::string& surface : surfaces_of(row)) {
        if (const auto lies = known.find(surface); lies != known.end()) {
            asked += lies->second.asked;
            told += std::min<uint64_t>(lies->second.told.size(), lies->second.asked);
        }
    }
    return asked == 0 ? 1 : static_cast<double>(asked - told) / static_cast<double>(asked);
}

HostileRows::HostileRows(HostilePlan plan, HostileJournal& journal)
    : plan_(std::move(plan)), journal_(journal), last_(Deadline::Clock::now()) {
    for (uint64_t cycle = plan_.shard.index; cycle <= journal_.identity().amount;
         cycle += plan_.shard.of) {
        if (!journal_.done(cycle)) {
            pending_.push_back(cycle);
        }
    }
    std::reverse(pending_.begin(), pending_.end());
}

std::optional<Row> HostileRows::draw(uint64_t cycle) const {
    std::vector<Row> rows;
    std::vector<double> weights;
    for (const Row& row : plan_.rows) {
        if (!journal_.left_out().contains(row.expected_key())) {
            rows.push_back(row);
            weights.push_back(std::max(least_weight, share_untold(row, journal_)));
        }
    }
    if (rows.empty()) {
        return std::nullopt;
    }
    const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
    double drawn = draw_share(journal_.identity().seed, cycle) * all;
    size_t index = 0;
    while (index + 1 < rows.size() && drawn >= weights[index]) {
        drawn -= weights[index++];
    }
    Row row = rows[index];
    row.cycle = static_cast<unsigned>(cycle);
    row.seed = journal_.identity().seed;
    row.last_cycle = true;
    return row;
}

std::optional<Row> HostileRows::next() {
    if (plan_.until.expired() || pending_.empty()) {
        return std::nullopt;
    }
    under_way_ = draw(pending_.back());
    return under_way_;
}

hp::Result<void> HostileRows::finished(const RowResult& result) {
    if (result.outcome == Outcome::skip) {
        journal_.leave_out(under_way_->expected_key(), result.skip_reason);
        return {};  // the cycle is drawn anew, without that row
    }
    pending_.pop_back();
    const auto now = Deadline::Clock::now();
    const std::chrono::duration<double> seconds = now - last_;
    last_ = now;
    return journal_.add({.number = under_way_->cycle,
                         .scenario = under_way_->scenario->id,
                         .row = under_way_->expected_key(),
                         .lies = result.mutations.value_or(0),
                         .surfaces = result.lies,
                         .reached = result.reached,
                         .passed = result.outcome == Outcome::pass,
                         .failures = findings_of(result),
                         .seconds = seconds.count()});
}

}  // namespace hotplug
