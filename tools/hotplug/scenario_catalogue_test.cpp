// SPDX-License-Identifier: GPL-2.0
// Purpose: rows of a catalogue, their selection and order; and that the scenarios we ship can be
// read. Thread: one.
#include "hotplug/scenario_catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace hotplug {
namespace {

Scenario scenario(std::string id, std::vector<std::string> tags) {
    Scenario made;
    made.id = std::move(id);
    made.description = "does something";
    made.tags = std::move(tags);
    return made;
}

ScenarioCatalogue catalogue() {
    Scenario two = scenario("two", {"flagship"});
    two.variants = {{"idle", {}}, {"busy", {StartStep{.program = "x", .options = {}}}}};
    two.variants.push_back({"extra", {}, std::vector<std::string>{"more"}});
    two.steps = {LoseStep{}};
    Scenario soak = scenario("soak", {"cycle"});
    soak.cycles = 2;
    return ScenarioCatalogue({scenario("one", {"flagship", "smoke"}), two, soak});
}

std::vector<std::string> ids(const std::vector<Row>& rows) {
    std::vector<std::string> all;
    for (const Row& row : rows) {
        all.push_back(row.id());
    }
    return all;
}

std::vector<std::string> selected(const std::vector<std::string>& words,
                                  std::optional<unsigned> cycles = {}) {
    const ScenarioCatalogue all = catalogue();
    const auto rows = all.select(words, cycles);
    return rows ? ids(*rows) : std::vector<std::string>{rows.error().message};
}

using Ids = std::vector<std::string>;

TEST(ScenarioCatalogue, SelectsByTagIdVariantAndCycle) {
    EXPECT_EQ(selected({"flagship"}), (Ids{"one", "two/idle", "two/busy"}));
    EXPECT_EQ(selected({"two"}), (Ids{"two/idle", "two/busy", "two/extra"}));
    EXPECT_EQ(selected({"more"}), (Ids{"two/extra"})) << "its own tags stand for the scenario's";
    EXPECT_EQ(selected({"two/busy", "one", "smoke"}), (Ids{"one", "two/busy"})) << "each row once";
    EXPECT_EQ(selected({"soak"}), (Ids{"soak/1", "soak/2"}));
    EXPECT_EQ(selected({"soak"}, 3), (Ids{"soak/1", "soak/2", "soak/3"}));
    EXPECT_EQ(selected({"soak/2"}), (Ids{"soak/2"}));
}

TEST(ScenarioCatalogue, WordThatSelectsNothingIsAnError) {
    EXPECT_EQ(selected({"one", "tow"}),
              Ids{"'tow' is no row, scenario or tag; scenarios: one, two, soak"});
}

TEST(ScenarioCatalogue, VictimsAlternateAndCyclesShareTheirKnownFailures) {
    const ScenarioCatalogue all = catalogue();
    const auto rows = all.select(Ids{"soak"}, std::nullopt);
    ASSERT_TRUE(rows);
    EXPECT_EQ((*rows)[0].victim_slot(), 0U);
    EXPECT_EQ((*rows)[1].victim_slot(), 1U);
    EXPECT_EQ((*rows)[1].bystander_slot(), 0U);
    EXPECT_EQ((*rows)[1].expected_key(), "soak");
}

TEST(ScenarioCatalogue, VariantStepsComeFirst) {
    const ScenarioCatalogue all = catalogue();
    const auto rows = all.select(Ids{"two/busy"}, std::nullopt);
    ASSERT_TRUE(rows);
    const auto steps = rows->front().steps();
    ASSERT_EQ(steps.size(), 2U);
    EXPECT_TRUE(std::holds_alternative<StartStep>(steps[0]));
    EXPECT_TRUE(std::holds_alternative<LoseStep>(steps[1]));
}

TEST(ScenarioCatalogue, SeedShufflesTheSameWayEachTime) {
    const ScenarioCatalogue all = catalogue();
    const auto rows = all.select(Ids{"one", "two", "soak"}, 4);
    ASSERT_TRUE(rows);
    auto unshuffled = *rows;
    order_rows(unshuffled, 0);
    EXPECT_EQ(ids(unshuffled), ids(*rows));
    auto first = *rows;
    auto second = *rows;
    order_rows(first, 7);
    order_rows(second, 7);
    EXPECT_EQ(ids(first), ids(second));
    EXPECT_NE(ids(first), ids(*rows));
    Ids cycles;
    for (const std::string& id : ids(first)) {
        if (id.starts_with("soak/")) {
            cycles.push_back(id);
        }
    }
    EXPECT_EQ(cycles, (Ids{"soak/1", "soak/2", "soak/3", "soak/4"}));
}

TEST(ScenarioCatalogue, FolderWithoutScenariosIsNamed) {
    const auto loaded = ScenarioCatalogue::load("no-such-folder");
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().message.find("no-such-folder: no scenario there"), 0U);
}

TEST(ScenarioCatalogue, ShippedScenariosAreWellFormedAndHaveTheFlagshipRows) {
    const std::filesystem::path folder = HP_SOURCE_SCENARIOS;
    const auto loaded = ScenarioCatalogue::load(folder);
    ASSERT_TRUE(loaded) << loaded.error().message;
    const auto rows = loaded->select(Ids{"flagship"}, std::nullopt);
    ASSERT_TRUE(rows);
    const Ids flagship = ids(*rows);
    for (const char* loss : {"device-del", "slot-power", "sysfs-remove", "driver-unbind",
                             "surprise", "silent-death", "hang", "aer-fatal"}) {
        for (const char* load : {"/idle", "/busy"}) {
            EXPECT_NE(std::find(flagship.begin(), flagship.end(), std::string(loss) + load),
                      flagship.end())
                << loss << load;
        }
    }
    EXPECT_EQ(flagship.size(), 18U) << "make run has a length that was promised";
    const auto drm = loaded->select(Ids{"drm"}, std::nullopt);
    ASSERT_TRUE(drm);
    EXPECT_EQ(ids(*drm), (Ids{"slot-power/drm", "sysfs-remove/drm", "driver-unbind/drm",
                              "surprise/drm", "silent-death/drm", "hang/drm"}));
}

}  // namespace
}  // namespace hotplug
