// SPDX-License-Identifier: GPL-2.0
// Purpose: holds the limits of the scenarios to the data that they are made of:
// scenarios/recorded/limits.json. Thread: one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "hotplug/judge/leak.h"
#include "hotplug/scenario/catalogue.h"

namespace hotplug {
namespace {

using json = nlohmann::json;

json read_limits() {
    std::ifstream in(std::filesystem::path(HP_SOURCE_SCENARIOS) / "recorded/limits.json");
    return json::parse(in, nullptr, false, /*ignore_comments=*/true);
}

/// Why a limit is none; empty: it follows from its record, and tells stock from the series.
std::string fault_of(const json& entry) {
    for (const char* member : {"limit", "scenarios", "flavour", "series", "factor", "limit_is",
                               "command", "commit", "file"}) {
        if (!entry.contains(member)) {
            return std::string(member) + " is missing";
        }
    }
    const double most = entry["series"]["most"];
    const double limit = entry["limit_is"];
    if (limit != std::ceil(most * entry["factor"].get<double>() - 1e-9)) {
        return "it is not the most of the series times the factor";
    }
    if (entry.contains("stock") && limit >= entry["stock"]["least"].get<double>()) {
        return "stock's defect would pass it";
    }
    return {};
}

double value_of(const Limits& limits, const std::string& limit) {
    if (limit == "removal_s") {
        return std::chrono::duration<double>(limits.removal).count();
    }
    return limit == "accesses" ? static_cast<double>(limits.accesses) : -1;
}

TEST(RecordedLimits, LimitThatStockWouldPassIsRefused) {
    json entry = {{"limit", "accesses"},
                  {"scenarios", {"peer"}},
                  {"flavour", "fast"},
                  {"series", {{"most", 2}}},
                  {"stock", {{"least", 582}}},
                  {"factor", 500},
                  {"limit_is", 1000},
                  {"command", "c"},
                  {"commit", "c"},
                  {"file", "f"}};
    EXPECT_EQ(fault_of(entry), "stock's defect would pass it") << "as it was";
    entry["factor"] = 10;
    EXPECT_EQ(fault_of(entry), "it is not the most of the series times the factor");
    entry["limit_is"] = 20;
    EXPECT_EQ(fault_of(entry), "");
    entry.erase("commit");
    EXPECT_EQ(fault_of(entry), "commit is missing");
}

TEST(RecordedLimits, ScenariosHaveThem) {
    const json recorded = read_limits();
    ASSERT_TRUE(recorded.is_object()) << "limits.json is no JSON";
    const auto catalogue = ScenarioCatalogue::load(HP_SOURCE_SCENARIOS);
    ASSERT_TRUE(catalogue) << catalogue.error().message;
    std::map<std::string, const Scenario*> scenarios;
    for (const Scenario& scenario : catalogue->scenarios()) {
        scenarios[scenario.id] = &scenario;
    }
    std::set<std::string> explained;  // "surprise removal_s"
    for (const json& entry : recorded["limits"]) {
        EXPECT_EQ(fault_of(entry), "") << entry;
        for (const std::string id : entry["scenarios"]) {
            const std::string limit = entry["limit"];
            ASSERT_TRUE(scenarios.contains(id)) << "there is no scenario " << id;
            EXPECT_EQ(value_of(scenarios[id]->limits, limit), entry["limit_is"].get<double>())
                << id << " " << limit;
            explained.insert(id + " " + limit);
        }
    }
    const Limits usual;
    for (const auto& [id, scenario] : scenarios) {
        for (const char* limit : {"removal_s", "accesses"}) {
            const bool own = value_of(scenario->limits, limit) != value_of(usual, limit);
            const std::string reason = recorded["unrecorded"].value(id, "");
            EXPECT_TRUE(!own || explained.contains(id + " " + limit) || reason.starts_with(limit))
                << id << " has a limit of its own, " << limit
                << ": put what it is made of into recorded/limits.json";
        }
    }
    for (const auto& [id, reason] : recorded["unrecorded"].items()) {
        EXPECT_TRUE(scenarios.contains(id)) << "there is no scenario " << id;
    }
}

TEST(RecordedLimits, LeaksHaveThem) {
    const json recorded = read_limits();
    const auto& limits = recorded["limits"];
    const auto limit_of = [&](const std::string& limit) -> json {
        const auto found = std::find_if(limits.begin(), limits.end(),
                                        [&](const json& entry) { return entry["limit"] == limit; });
        return found == limits.end() ? json() : (*found)["limit_is"];
    };
    EXPECT_EQ(limit_of("slab_driver"), slab_tolerance_driver);
    EXPECT_EQ(limit_of("slab_system"), slab_tolerance_system);
}

}  // namespace
}  // namespace hotplug
