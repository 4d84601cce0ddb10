// SPDX-License-Identifier: GPL-2.0
// Purpose: see time_left.h.
// Thread: the runner's.
#include "hotplug/run/time_left.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

namespace hotplug {

namespace {

using Seconds = TimeLeft::Seconds;

/// Wall time of each row: its own, and what a boot before it took on average.
std::map<std::string, Seconds> read_times(const nlohmann::json& results) {
    std::map<std::string, Seconds> times;
    double between = results.at("duration_s").get<double>();
    const auto boots = results.at("boots").get<unsigned>();
    for (const auto& row : results.at("rows")) {
        between -= row.at("duration_s").get<double>();
    }
    const double boot = boots == 0 ? 0 : std::max(0.0, between) / boots;
    for (const auto& row : results.at("rows")) {
        times[row.at("id").get<std::string>()] = Seconds(
            row.at("duration_s").get<double>() + (row.at("fresh_boot").get<bool>() ? boot : 0));
    }
    return times;
}

}  // namespace

TimeLeft::TimeLeft(const std::filesystem::path& earlier, std::vector<std::string> rows)
    : to_come_(std::move(rows)) {
    std::ifstream in(earlier);
    const auto results = nlohmann::json::parse(in, nullptr, false);
    try {
        earlier_ = read_times(results);
    } catch (const nlohmann::json::exception&) {
        // Of another hpctl, or not there: the rows of this run will tell.
    }
}

void TimeLeft::begin(size_t rows, Clock::time_point now) {
    count_ = rows;
    since_ = now;
}

void TimeLeft::finished(const std::string& row, Clock::time_point now) {
    const Seconds took = now - since_;
    if (const auto before = earlier_.find(row); before != earlier_.end()) {
        took_known_ += took;
        expected_known_ += before->second;
    }
    std::erase(to_come_, row);
    took_ += took;
    ++done_;
    count_ -= std::min<size_t>(count_, 1);
    since_ = now;
}

std::optional<Seconds> TimeLeft::expected(const std::string& row) const {
    if (const auto before = earlier_.find(row); before != earlier_.end()) {
        // Another kernel, or a busier host: what has ended says by how much.
        const double pace = expected_known_.count() > 0 ? took_known_ / expected_known_ : 1.0;
        return before->second * pace;
    }
    if (done_ != 0) {
        return took_ / static_cast<double>(done_);
    }
    if (earlier_.empty()) {
        return std::nullopt;
    }
    Seconds sum{0};
    for (const auto& [known, time] : earlier_) {
        sum += time;
    }
    return sum / static_cast<double>(earlier_.size());
}

std::optional<Seconds> TimeLeft::left(Clock::time_point now) const {
    Seconds sum{0};
    for (size_t i = 0; i < count_; ++i) {
        const auto time = expected(i < to_come_.size() ? to_come_[i] : "");
        if (!time) {
            return std::nullopt;
        }
        // The present one has had some of its time, and may be late.
        sum += i == 0 ? std::max(Seconds(0), *time - Seconds(now - since_)) : *time;
    }
    return sum;
}

std::string rough_text(Seconds time) {
    const auto seconds = static_cast<long>(std::ceil(time.count() / 10)) * 10;
    if (seconds < 90) {
        return fmt::format("{} s", seconds);
    }
    const long minutes = (seconds + 30) / 60;
    return minutes < 90 ? fmt::format("{} min", minutes)
                        : fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

}  // namespace hotplug
