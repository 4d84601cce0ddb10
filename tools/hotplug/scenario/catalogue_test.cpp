// SPDX-License-Identifier: GPL-2.0
// Purpose: rows of a catalogue, their selection and order; and that the scenarios we ship can be
// read. Thread: one.
#include "hotplug/scenario/catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

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
    EXPECT_EQ(selected({"two/busy", "one", "smoke"}), (Ids{"two/busy", "one"})) << "each row once";
    EXPECT_EQ(selected({"two/busy", "flagship"}), (Ids{"two/busy", "one", "two/idle"}))
        << "in the order of the words";
    EXPECT_EQ(selected({"soak"}), (Ids{"soak/1", "soak/2"}));
    EXPECT_EQ(selected({"soak"}, 3), (Ids{"soak/1", "soak/2", "soak/3"}));
    EXPECT_EQ(selected({"soak/2"}), (Ids{"soak/2"}));
}

TEST(ScenarioCatalogue, WordThatSelectsNothingIsAnError) {
    EXPECT_EQ(selected({"one", "twoo"}),
              Ids{"'twoo' is no row, scenario or tag: did you mean two?"});
    EXPECT_EQ(selected({"two/bsuy"}),
              Ids{"'two/bsuy' is no row, scenario or tag: did you mean two/busy?"});
    EXPECT_EQ(selected({"nonsense"}),
              Ids{"'nonsense' is no row, scenario or tag: hpctl list shows them"});
}

Ids without(const Ids& patterns, const Ids& wanted = {"one", "two", "soak"}) {
    const ScenarioCatalogue all = catalogue();
    auto rows = all.select(wanted, {});
    const auto done = all.exclude(*rows, patterns);
    return done ? ids(*rows) : Ids{done.error().message};
}

TEST(ScenarioCatalogue, ExcludesByPatternOfRowScenarioOrTag) {
    EXPECT_EQ(without({"two/*"}), (Ids{"one", "soak/1", "soak/2"}));
    EXPECT_EQ(without({"two/b?sy", "soak/2"}), (Ids{"one", "two/idle", "two/extra", "soak/1"}));
    EXPECT_EQ(without({"flagship"}), (Ids{"two/extra", "soak/1", "soak/2"}));
    EXPECT_EQ(without({"soak"}, {"one", "soak"}), Ids{"one"});
    EXPECT_EQ(without({"two"}, {"one"}), Ids{"one"}) << "it is there, but was not asked for";
    EXPECT_EQ(without({"*"}), Ids{});
    EXPECT_EQ(without({"two/idel"}),
              Ids{"--exclude 'two/idel' names no row, scenario or tag: did you mean two/idle?"});
    EXPECT_EQ(without({"x*"}),
              Ids{"--exclude 'x*' names no row, scenario or tag: hpctl list shows them"});
}

TEST(ScenarioCatalogue, RepeatedRowsComeInRounds) {
    const ScenarioCatalogue all = catalogue();
    const auto rows = all.select(Ids{"one", "soak"}, {});
    ASSERT_TRUE(rows);
    EXPECT_EQ(ids(repeat_rows(*rows, 1, 0)), (Ids{"one", "soak/1", "soak/2"}));
    const auto twice = repeat_rows(*rows, 2, 0);
    EXPECT_EQ(ids(twice), (Ids{"one~1", "soak/1~1", "soak/2~1", "one~2", "soak/1~2", "soak/2~2"}));
    EXPECT_EQ(twice[4].name(), "soak/1") << "what selects it";
    EXPECT_EQ(twice[4].expected_key(), "soak");
    const auto variants = all.select(Ids{"two"}, {});
    ASSERT_TRUE(variants);
    const auto shuffled = repeat_rows(*variants, 8, 7);
    std::set<std::string> first;
    for (size_t round = 0; round < 8; ++round) {
        first.insert(shuffled[3 * round].name());
        EXPECT_EQ(shuffled[3 * round].attempt, round + 1);
    }
    EXPECT_GT(first.size(), 1U) << "each round has an order of its own";
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

TEST(ScenarioCatalogue, SetupComesBeforeTheVariant) {
    Scenario made = scenario("a", {"t"});
    made.setup = {SettleStep{}};
    made.variants = {{"v", {StartStep{.program = "x", .options = {}}}}};
    made.steps = {LoseStep{}};
    const ScenarioCatalogue all({made});
    const auto rows = all.select(Ids{"a"}, std::nullopt);
    ASSERT_TRUE(rows);
    const auto steps = rows->front().steps();
    ASSERT_EQ(steps.size(), 3U);
    EXPECT_TRUE(std::holds_alternative<SettleStep>(steps[0]));
    EXPECT_TRUE(std::holds_alternative<StartStep>(steps[1]));
    EXPECT_TRUE(std::holds_alternative<LoseStep>(steps[2]));
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

/// The losses of `cycles` cycles, as the rows' steps have them.
std::vector<Loss> drawn(uint64_t seed, unsigned cycles) {
    Scenario mixed = scenario("mixed", {});
    mixed.cycles = 1;
    LoseStep lose;
    lose.drawn_from = {Loss::surprise, Loss::hang, Loss::slot_power, Loss::aer_fatal};
    mixed.steps = {lose};
    const ScenarioCatalogue all({mixed});
    std::vector<Loss> losses;
    const auto rows = all.select(Ids{"mixed"}, cycles, seed);
    for (const Row& row : rows.value()) {
        const auto steps = row.steps();
        losses.push_back(std::get<LoseStep>(steps.at(0)).loss);
        EXPECT_TRUE(std::get<LoseStep>(steps.at(0)).drawn_from.empty()) << "decided";
    }
    return losses;
}

TEST(ScenarioCatalogue, LossesAreDrawnBySeedAndEachComesOnceInATurn) {
    const auto first = drawn(1, 40);
    EXPECT_EQ(first, drawn(1, 40));
    EXPECT_NE(first, drawn(2, 40));
    EXPECT_NE(first, drawn(1ull << 32, 40)) << "all bits of the seed count";
    std::set<std::vector<Loss>> turns;
    for (size_t turn = 0; turn < 10; ++turn) {
        const std::vector<Loss> four(first.begin() + 4 * turn, first.begin() + 4 * turn + 4);
        EXPECT_EQ(std::set<Loss>(four.begin(), four.end()).size(), 4U);
        turns.insert(four);
    }
    EXPECT_GT(turns.size(), 3U) << "turns differ";
    EXPECT_EQ(drawn(1, 7), std::vector<Loss>(first.begin(), first.begin() + 7))
        << "a cycle's loss does not depend on how many there are";
    // Of this the sequence that a report names is made: it must not change unnoticed.
    EXPECT_EQ(drawn(1, 4),
              (std::vector<Loss>{Loss::slot_power, Loss::hang, Loss::surprise, Loss::aer_fatal}));
}

/// The seeds of a device that is made hostile, in `cycles` cycles.
std::vector<uint64_t> hostile_seeds(uint64_t seed, unsigned cycles, const nlohmann::json& request) {
    Scenario hostile = scenario("hostile", {});
    hostile.cycles = 1;
    hostile.steps = {EmulateStep{request, Role::victim}};
    const ScenarioCatalogue all({hostile});
    std::vector<uint64_t> seeds;
    const auto rows = all.select(Ids{"hostile"}, cycles, seed);
    for (const Row& row : rows.value()) {
        const auto steps = row.steps();
        const auto& asked = std::get<EmulateStep>(steps.at(0)).request;
        EXPECT_EQ(asked.at("rate"), request.at("rate"));
        seeds.push_back(asked.at("seed").get<uint64_t>());
    }
    return seeds;
}

TEST(ScenarioCatalogue, EachCycleOfAHostileDeviceHasASeedOfItsOwn) {
    const nlohmann::json request = {{"do", "hostile"}, {"surface", {"registers"}}, {"rate", 5}};
    const auto seeds = hostile_seeds(1, 100, request);
    EXPECT_EQ(std::set<uint64_t>(seeds.begin(), seeds.end()).size(), 100U);
    EXPECT_EQ(hostile_seeds(1, 100, request), seeds);
    EXPECT_EQ(hostile_seeds(1, 7, request), std::vector<uint64_t>(seeds.begin(), seeds.begin() + 7))
        << "a cycle's seed does not depend on how many there are";
    EXPECT_NE(hostile_seeds(2, 1, request).at(0), seeds.at(0));
    nlohmann::json given = request;
    given["seed"] = 42;
    EXPECT_EQ(hostile_seeds(1, 2, given), (std::vector<uint64_t>{42, 42}));
}

TEST(ScenarioCatalogue, HostileRowsPutAnHonestBoardInAndCoverEverySurface) {
    const auto loaded = ScenarioCatalogue::load(HP_SOURCE_SCENARIOS);
    ASSERT_TRUE(loaded) << loaded.error().message;
    const auto rows = loaded->select(Ids{"hostile"}, 1, 1);
    ASSERT_TRUE(rows) << rows.error().message;
    std::set<std::string> surfaces;
    for (const Row& row : *rows) {
        EXPECT_TRUE(row.scenario->alone) << row.id();
        bool lies = false;
        bool honest = false;
        bool reaches = false;
        for (const Step& step : row.steps()) {
            if (const auto* emulate = std::get_if<EmulateStep>(&step)) {
                lies = lies || emulate->hostile();
                for (const auto& surface : emulate->request.at("surface")) {
                    surfaces.insert(surface.get<std::string>());
                }
            }
            const auto* shell = std::get_if<ShellStep>(&step);
            reaches = reaches || (shell != nullptr && !shell->reaches.empty());
            honest = honest || std::holds_alternative<RecoverStep>(step);
        }
        EXPECT_TRUE(lies && honest) << row.id();
        EXPECT_TRUE(reaches) << row.id() << ": did the driver get anywhere?";
    }
    EXPECT_EQ(surfaces, (std::set<std::string>{"discovery", "firmware", "interrupts", "mailbox",
                                               "registers", "write_backs"}));
}

TEST(ScenarioCatalogue, MixedCyclesGoThroughEveryWayOfLoss) {
    const auto loaded = ScenarioCatalogue::load(HP_SOURCE_SCENARIOS);
    ASSERT_TRUE(loaded) << loaded.error().message;
    const auto rows = loaded->select(Ids{"mixed-cycles/drm"}, 8, 1);
    ASSERT_TRUE(rows) << rows.error().message;
    std::set<Loss> seen;
    for (const Row& row : *rows) {
        const auto steps = row.steps();
        for (const Step& step : steps) {
            if (const auto* lose = std::get_if<LoseStep>(&step)) {
                seen.insert(lose->loss);
            }
        }
    }
    std::set<Loss> all;
    for (const LossKind& kind : all_loss_kinds()) {
        // What a GPU comes through by itself has rows of its own, `recovers`; one stands for all.
        if (kind.comeback != Comeback::by_itself || kind.loss == Loss::aer_fatal) {
            all.insert(kind.loss);
        }
    }
    all.erase(Loss::surprise_without_restore);  // the harness's own negative control
    all.erase(Loss::at_access);                 // needs something that is under way
    EXPECT_EQ(seen, all);
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

TEST(ScenarioCatalogue, RowsOfReportsAreThoseThatHaveALink) {
    const auto loaded = ScenarioCatalogue::load(std::filesystem::path(HP_SOURCE_SCENARIOS));
    ASSERT_TRUE(loaded) << loaded.error().message;
    const auto reports = loaded->select(Ids{"report"}, std::nullopt);
    ASSERT_TRUE(reports) << reports.error().message;
    std::set<std::string> tagged;
    for (const Row& row : *reports) {
        tagged.insert(row.scenario->id);
    }
    std::set<std::string> linked;
    for (const Scenario& scenario : loaded->scenarios()) {
        if (!scenario.reports.empty()) {
            linked.insert(scenario.id);
        }
    }
    EXPECT_EQ(tagged, linked);
}

}  // namespace
}  // namespace hotplug
