// SPDX-License-Identifier: GPL-2.0
// Purpose: see runner.h.
// Thread: see runner.h.
#include "hotplug/run/runner.h"

#include <algorithm>
#include <thread>

#include "hotplug/run/guest_lane.h"

namespace hotplug {

namespace {

class GivenRows final : public RowSource {
public:
    explicit GivenRows(std::span<const Row> rows) : rows_(rows) {}

    size_t size() const override { return rows_.size(); }
    std::optional<Row> next() override {
        return next_ < rows_.size() ? std::optional(rows_[next_++]) : std::nullopt;
    }
    bool goes_on() const override {
        return next_ < rows_.size() && rows_[next_].soak() && rows_[next_].cycle > 1;
    }
    hp::Result<void> finished(const RowResult&) override { return {}; }
    std::vector<std::string> left() const override {
        std::vector<std::string> ids;
        for (const Row& row : rows_.subspan(next_)) {
            ids.push_back(row.id());
        }
        return ids;
    }

private:
    std::span<const Row> rows_;
    size_t next_ = 0;
};

}  // namespace

Runner::Runner(TestbedFactory& factory, Progress& progress, RunnerConfig config)
    : factory_(factory), progress_(progress), config_(std::move(config)) {}

RunReport Runner::run(std::span<const Row> rows, RunInfo info) {
    GivenRows given(rows);
    return run(given, std::move(info));
}

RunReport Runner::run(RowSource& rows, RunInfo info) {
    const size_t guests = std::clamp<size_t>(config_.guests, 1, std::max<size_t>(1, rows.size()));
    RunBook book(config_, progress_, rows, std::move(info));
    if (auto opened = book.open(); !opened) {
        book.fail(opened.error().message);
        return book.close();
    }
    const auto run_lane = [&] { GuestLane(factory_, progress_, config_, book).run(); };
    std::vector<std::thread> others;
    for (size_t i = 1; i < guests; ++i) {
        others.emplace_back(run_lane);
    }
    run_lane();
    for (std::thread& other : others) {
        other.join();
    }
    return book.close();
}

}  // namespace hotplug
