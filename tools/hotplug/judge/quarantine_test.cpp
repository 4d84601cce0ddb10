// SPDX-License-Identifier: GPL-2.0
// Purpose: what a quarantine excuses and until when, and what is refused as one.
// Thread: one.
#include "hotplug/judge/quarantine.h"

#include <gtest/gtest.h>

namespace hotplug {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::sys_days today = 2026y / 11 / 25;

ScenarioCatalogue catalogue() {
    Scenario hang;
    hang.id = "hang";
    hang.tags = {"flagship"};
    hang.variants = {{"idle", {}}, {"busy", {}}};
    Scenario probe;
    probe.id = "probe";
    return ScenarioCatalogue({hang, probe});
}

Quarantine made(std::vector<QuarantineEntry> entries) {
    return {entries, catalogue(), today};
}

RowResult red(const std::string& key) {
    RowResult row;
    row.id = row.name = row.expected_key = key;
    row.outcome = Outcome::fail;
    return row;
}

TEST(Quarantine, ExcusesFailuresUntilItsLastDay) {
    const Quarantine quarantine = made({{"hang/idle", "reset hangs", 2026y / 11 / 25}});
    RowResult row = red("hang/idle");
    quarantine.excuse(row);
    EXPECT_EQ(row.outcome, Outcome::quarantined);
    EXPECT_EQ(row.quarantine, "until 2026-11-25: reset hangs");
    RowResult other = red("hang/busy");
    quarantine.excuse(other);
    EXPECT_EQ(other.outcome, Outcome::fail);
    RowResult unexpected = red("hang/idle");
    unexpected.outcome = Outcome::fixed;
    quarantine.excuse(unexpected);
    EXPECT_EQ(unexpected.outcome, Outcome::quarantined);
    RowResult good = red("hang/idle");
    good.outcome = Outcome::pass;
    quarantine.excuse(good);
    EXPECT_EQ(good.outcome, Outcome::pass) << "a pass needs no excuse";
    EXPECT_TRUE(quarantine.stale().empty());
}

TEST(Quarantine, EndsTheDayAfter) {
    const Quarantine quarantine = made({{"hang/idle", "reset hangs", 2026y / 11 / 24}});
    RowResult row = red("hang/idle");
    quarantine.excuse(row);
    EXPECT_EQ(row.outcome, Outcome::fail);
    EXPECT_EQ(
        quarantine.stale(),
        std::vector<std::string>{"hang/idle: its quarantine ended on 2026-11-24: reset hangs"});
}

TEST(Quarantine, MayNameAScenarioOrATag) {
    for (const char* name : {"hang", "flagship"}) {
        const Quarantine quarantine = made({{name, "r", 2027y / 1 / 1}});
        EXPECT_NE(quarantine.find("hang/busy"), nullptr) << name;
        EXPECT_EQ(quarantine.find("probe"), nullptr) << name;
    }
}

TEST(Quarantine, TellsOfWhatNobodyKnows) {
    const Quarantine quarantine = made({{"hang/ilde", "r", 2027y / 1 / 1}});
    EXPECT_EQ(quarantine.stale(),
              std::vector<std::string>{
                  "'hang/ilde' is no row, scenario or tag: did you mean hang/idle?"});
}

TEST(Quarantine, IsRead) {
    const auto read = Quarantine::parse(
        "[ // why\n{\"row\": \"hang\", \"reason\": \"r\", \"until\": \"2026-12-31\"}]", "q");
    ASSERT_TRUE(read);
    ASSERT_EQ(read->size(), 1U);
    EXPECT_EQ(read->front().rows, "hang");
    EXPECT_EQ(read->front().until, 2026y / 12 / 31);
}

TEST(Quarantine, WhatIsNoneIsRefusedInOneLine) {
    const auto refusal = [](const char* text) {
        const auto read = Quarantine::parse(text, "q");
        return read ? "" : read.error().message;
    };
    EXPECT_EQ(refusal("{}"), "q: expected a JSON list of rows in quarantine");
    EXPECT_EQ(refusal("[1]"), "q: /0: expected an object of row, reason and until");
    EXPECT_EQ(refusal(R"([{"row": "a", "reason": "b"}])"), "q: /0: member 'until' is missing");
    EXPECT_EQ(refusal(R"([{"row": "a", "reason": "", "until": "2026-12-31"}])"),
              "q: /0: member 'reason' must be a text that is not empty");
    EXPECT_EQ(refusal(R"([{"row": "a", "reason": "b", "until": "2026-12-31", "who": "me"}])"),
              "q: /0: member 'who' is not allowed; allowed: row, reason, until");
    EXPECT_EQ(refusal(R"([{"row": "a", "reason": "b", "until": "2026-02-30"}])"),
              "q: /0: until: '2026-02-30' is no day like 2026-12-31");
    for (const char* day :
         {"31.12.2026", "2026-1-31", "2026-12-3x", "20261231", "-026-12-31", ""}) {
        EXPECT_FALSE(parse_day(day)) << day;
    }
    EXPECT_NE(refusal("["), "");
}

}  // namespace
}  // namespace hotplug
