// SPDX-License-Identifier: GPL-2.0
// Purpose: the file of a series of hostile devices: it survives being broken off, adds up, refuses
// what is of another series, and says what the driver was lied to about. Thread: one.
#include "hotplug/sweep/hostile_journal.h"

#include <gtest/gtest.h>

#include <fstream>

#include "hotplug/sweep/hostile_report.h"
#include "lib/temp_tree.h"

namespace hotplug {
namespace {

HostileCycle cycle(uint64_t number, std::set<uint32_t> told, uint64_t asked = 10) {
    return {.number = number,
            .scenario = "hostile-probe",
            .row = "hostile-probe/registers",
            .lies = 20 * number,
            .surfaces = {{"registers", {asked, std::move(told)}}},
            .reached = {{"bound", number % 2 == 1}},
            .passed = true,
            .seconds = 36};
}

class HostileJournalTest : public testing::Test {
protected:
    hp::Result<HostileJournal> open(const std::string& name = "a") {
        return HostileJournal::open(tree_.root() / name, identity_, {"--kernel", "/k"});
    }

    hp::TempTree tree_;
    JournalIdentity identity_ = {"key", "mi300x", 2, 1, 300};
};

TEST_F(HostileJournalTest, GoesOnWhereItWasBrokenOff) {
    {
        auto journal = open();
        ASSERT_TRUE(journal) << journal.error().message;
        ASSERT_TRUE(journal->add(cycle(1, {3, 5})));
        ASSERT_TRUE(journal->add(cycle(4, {5, 7}, 12)));
    }
    std::ofstream(tree_.root() / "a", std::ios::app) << R"({"cycle": {"num)";
    const auto again = open();
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->cycles().size(), 2U);
    EXPECT_TRUE(again->done(4));
    EXPECT_FALSE(again->done(2));
    EXPECT_EQ(again->known("hostile-probe").at("registers"), (SurfaceLies{12, {3, 5, 7}}));
    EXPECT_EQ(again->cycles()[1].reached, (std::map<std::string, bool>{{"bound", false}}));
    EXPECT_TRUE(again->known("hostile-load").empty()) << "another driver's work, another place";
    identity_.amount = 50;
    EXPECT_NE(open().error().message.find("of another hostile series ("), std::string::npos);
}

TEST_F(HostileJournalTest, ShardsAddUp) {
    ASSERT_TRUE(open("a")->add(cycle(1, {3})));
    ASSERT_TRUE(open("b")->add(cycle(2, {4, 5})));
    const std::vector<std::filesystem::path> files = {tree_.root() / "a", tree_.root() / "b"};
    const auto merged = HostileJournal::merge(files);
    ASSERT_TRUE(merged) << merged.error().message;
    EXPECT_EQ(merged->known("hostile-probe").at("registers").told, (std::set<uint32_t>{3, 4, 5}));
    const std::vector<std::filesystem::path> twice = {files[0], files[1], files[0]};
    EXPECT_EQ(HostileJournal::merge(twice)->cycles().size(), 2U) << "no cycle counts twice";
    identity_.kernel = "rebuilt";
    ASSERT_TRUE(open("c"));
    const std::vector<std::filesystem::path> wrong = {tree_.root() / "a", tree_.root() / "c"};
    EXPECT_NE(HostileJournal::merge(wrong).error().message.find("do not add up"),
              std::string::npos);
    std::ofstream(tree_.root() / "d") << R"({"sweep": {}, "command": []})" << '\n';
    const std::vector<std::filesystem::path> sweep = {tree_.root() / "d"};
    EXPECT_FALSE(HostileJournal::merge(sweep)) << "a sweep's file is another";
}

TEST_F(HostileJournalTest, TheReportHasLiesPlacesAndGroupsWithTheirRow) {
    auto journal = open();
    HostileCycle failing = cycle(3, {1});
    failing.passed = false;
    failing.failures = {{"KASAN: use-after-free in f", {"f", "g"}}};
    ASSERT_TRUE(journal->add(cycle(1, {3})) && journal->add(failing) &&
                journal->add(cycle(0, {3, 4})));
    journal->leave_out("hostile-vf/mailbox-load", "needs another profile");
    const std::string text = format_hostile(*journal);
    const auto has = [&](const std::string& part) {
        EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in:\n" << text;
    };
    has("all                                3      80      20       1       1\n");
    has("hostile-probe/registers            3      80      20       1       1  bound 2\n");
    has("hostile-probe registers           10       3\n");
    has("hostile-vf/mailbox-load     left out: needs another profile\n");
    has("3 cycles of 300 in 108 s, boots included: 100 cycles per hour\n");
    has("1 cycle failed, in 1 group:\n");
    has("1 cycle: KASAN: use-after-free in f\n    f\n    g\n  in hostile-probe/registers/3\n"
        "  hpctl run hostile-probe/registers/3 --kernel /k\n");
    EXPECT_EQ(replay_commands(*journal),
              (std::vector<std::string>{"hpctl run hostile-probe/registers/3 --kernel /k"}));
}

}  // namespace
}  // namespace hotplug
