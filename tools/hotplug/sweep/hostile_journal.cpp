// SPDX-License-Identifier: GPL-2.0
// Purpose: see hostile_journal.h. Behind its first line a file has lines {"cycle": ...}.
// Thread: one at a time.
#include "hotplug/sweep/hostile_journal.h"

namespace hotplug {

namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

constexpr JournalKind hostile_kind = {"hostile", "hostile series", "cycles"};

json to_json(const HostileCycle& cycle) {
    json surfaces = json::object();
    for (const auto& [name, lies] : cycle.surfaces) {
        surfaces[name] = {{"asked", lies.asked}, {"told", lies.told}};
    }
    return {{"number", cycle.number},  {"scenario", cycle.scenario},
            {"row", cycle.row},        {"lies", cycle.lies},
            {"surfaces", surfaces},    {"reached", cycle.reached},
            {"passed", cycle.passed},  {"failures", to_json(cycle.failures)},
            {"seconds", cycle.seconds}};
}

HostileCycle read_cycle(const json& value) {
    HostileCycle cycle = {.number = value.at("number").get<uint64_t>(),
                          .scenario = value.at("scenario").get<std::string>(),
                          .row = value.at("row").get<std::string>(),
                          .lies = value.at("lies").get<uint64_t>(),
                          .reached = value.at("reached").get<std::map<std::string, bool>>(),
                          .passed = value.at("passed").get<bool>(),
                          .failures = read_failures(value.at("failures")),
                          .seconds = value.at("seconds").get<double>()};
    for (const auto& [name, lies] : value.at("surfaces").items()) {
        cycle.surfaces[name] = {lies.at("asked").get<uint64_t>(),
                                lies.at("told").get<std::set<uint32_t>>()};
    }
    return cycle;
}

}  // namespace

hp::Result<HostileJournal> HostileJournal::open(const fs::path& file,
                                                const JournalIdentity& identity,
                                                const std::vector<std::string>& command) {
    HostileJournal journal;
    return JournalFile::open(hostile_kind, file, identity, command,
                             [&](const json& line) { journal.take(read_cycle(line.at("cycle"))); })
        .map([&](JournalFile opened) {
            journal.file_ = std::move(opened);
            return std::move(journal);
        });
}

hp::Result<HostileJournal> HostileJournal::merge(std::span<const fs::path> files) {
    HostileJournal merged;
    for (const fs::path& file : files) {
        auto read = JournalFile::read(hostile_kind, file, [&](const json& line) {
            merged.take(read_cycle(line.at("cycle")));
        });
        if (!read) {
            return tl::unexpected(read.error());
        }
        if (&file == &files.front()) {
            merged.file_ = std::move(*read);
        } else if (auto one = read->adds_up_with(merged.file_); !one) {
            return tl::unexpected(one.error());
        }
    }
    return merged;
}

const std::map<std::string, SurfaceLies>& HostileJournal::known(const std::string& scenario) const {
    static const std::map<std::string, SurfaceLies> nothing;
    const auto found = known_.find(scenario);
    return found == known_.end() ? nothing : found->second;
}

hp::Result<void> HostileJournal::add(HostileCycle cycle) {
    auto written = file_.append({{"cycle", to_json(cycle)}});
    take(std::move(cycle));
    return written;
}

void HostileJournal::take(HostileCycle cycle) {
    if (!done_.insert(cycle.number).second) {
        return;
    }
    for (const auto& [surface, lies] : cycle.surfaces) {
        known_[cycle.scenario][surface].add(lies);
    }
    cycles_.push_back(std::move(cycle));
}

}  // namespace hotplug
