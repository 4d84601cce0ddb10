// SPDX-License-Identifier: GPL-2.0
// Purpose: see sweep_journal.h. A file is one line {"sweep": ...}, then lines with "count",
// "left_out" or "point".
// Thread: one at a time.
#include "hotplug/sweep/sweep_journal.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace hotplug {

namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

constexpr JournalKind sweep_kind = {"sweep", "sweep", "points"};

json to_json(const SweepPoint& point) {
    return {{"phase", point.phase},
            {"access", point.access},
            {"accesses", point.accesses},
            {"at", point.at},
            {"digest", point.digest},
            {"cpu_digest", point.cpu_digest},
            {"late", point.late ? json(*point.late) : json(nullptr)},
            {"passed", point.passed},
            {"failures", to_json(point.failures)},
            {"seconds", point.seconds}};
}

SweepPoint read_point(const json& value) {
    SweepPoint point;
    value.at("phase").get_to(point.phase);
    value.at("access").get_to(point.access);
    value.at("accesses").get_to(point.accesses);
    value.at("at").get_to(point.at);
    value.at("digest").get_to(point.digest);
    value.at("cpu_digest").get_to(point.cpu_digest);
    if (const auto late = value.find("late"); late != value.end() && !late->is_null()) {
        point.late = late->get<uint64_t>();
    }
    value.at("passed").get_to(point.passed);
    value.at("seconds").get_to(point.seconds);
    point.failures = read_failures(value.at("failures"));
    return point;
}

}  // namespace

SweepPoint point_of(const RowResult& row, const std::string& phase, uint64_t access) {
    SweepPoint point;
    point.phase = phase;
    point.access = access;
    if (!row.episodes.empty() && row.episodes.back().loss.vanishing) {
        const Vanishing& vanishing = *row.episodes.back().loss.vanishing;
        point.accesses = vanishing.accesses;
        point.at = vanishing.at;
        point.digest = vanishing.digest;
        point.cpu_digest = vanishing.cpu_digest;
    }
    for (const Episode& episode : row.episodes) {
        point.late = point.late.value_or(0) + episode.accesses.server + episode.accesses.black_hole;
    }
    point.passed = row.outcome == Outcome::pass;
    point.failures = findings_of(row);
    return point;
}

hp::Result<SweepJournal> SweepJournal::open(const fs::path& file, const JournalIdentity& identity,
                                            const std::vector<std::string>& command) {
    SweepJournal journal;
    return JournalFile::open(sweep_kind, file, identity, command,
                             [&](const json& line) { journal.take(line); })
        .map([&](JournalFile opened) {
            journal.file_ = std::move(opened);
            journal.left_out_.clear();
            return std::move(journal);
        });
}

hp::Result<SweepJournal> SweepJournal::merge(std::span<const fs::path> files) {
    SweepJournal merged;
    bool first = true;
    for (const fs::path& file : files) {
        SweepJournal journal;
        auto read =
            JournalFile::read(sweep_kind, file, [&](const json& line) { journal.take(line); });
        if (!read) {
            return tl::unexpected(read.error());
        }
        journal.file_ = std::move(*read);
        if (first) {
            merged = std::move(journal);
            first = false;
            continue;
        }
        if (auto one = journal.file_.adds_up_with(merged.file_); !one) {
            return tl::unexpected(one.error());
        }
        for (const auto& [phase, accesses] : journal.counts_) {
            uint64_t& most = merged.counts_[phase];
            most = std::max(most, accesses);
        }
        merged.left_out_.insert(journal.left_out_.begin(), journal.left_out_.end());
        for (SweepPoint& point : journal.points_) {
            merged.take(std::move(point));
        }
    }
    return merged;
}

void SweepJournal::take(const json& line) {
    if (line.contains("count")) {
        line.at("accesses").get_to(counts_[line.at("count").get<std::string>()]);
    } else if (line.contains("left_out")) {
        line.at("reason").get_to(left_out_[line.at("left_out").get<std::string>()]);
    } else {
        take(read_point(line.at("point")));
    }
}

void SweepJournal::take(SweepPoint point) {
    tried_.insert({point.phase, point.access});
    points_.push_back(std::move(point));
}

hp::Result<void> SweepJournal::add_count(const std::string& phase, uint64_t accesses) {
    counts_[phase] = accesses;
    return file_.append({{"count", phase}, {"accesses", accesses}});
}

hp::Result<void> SweepJournal::add_left_out(const std::string& phase, const std::string& reason) {
    left_out_[phase] = reason;
    return file_.append({{"left_out", phase}, {"reason", reason}});
}

hp::Result<void> SweepJournal::add(SweepPoint point) {
    auto written = file_.append({{"point", to_json(point)}});
    take(std::move(point));
    return written;
}

}  // namespace hotplug
