// SPDX-License-Identifier: GPL-2.0
// Purpose: the order of hostile devices: what was not lied about comes more often, a shard has its
// own cycles, nothing twice. Thread: one.
#include "hotplug/sweep/hostile_rows.h"

#include <gtest/gtest.h>

#include <map>

#include "lib/temp_tree.h"

namespace hotplug {
namespace {

Variant lying(const std::string& surface) {
    const nlohmann::json request = {{"do", "hostile"}, {"surface", {surface}}, {"rate", 5}};
    return {surface, {EmulateStep{request}}};
}

class HostileRowsTest : public testing::Test {
protected:
    HostileRowsTest() {
        scenario_.id = "hostile-probe";
        scenario_.cycles = 2;
        scenario_.variants = {lying("registers"), lying("firmware")};
        for (const Variant& variant : scenario_.variants) {
            plan_.rows.push_back({&scenario_, &variant, 1});
        }
    }

    HostileJournal journal() {
        auto opened = HostileJournal::open(tree_.root() / "j", identity_, {});
        EXPECT_TRUE(opened) << opened.error().message;
        return std::move(*opened);
    }

    /// A cycle in which `told` of 100 places were lied about.
    static RowResult done(const Row& row, uint32_t told) {
        RowResult result;
        SurfaceLies& lies = result.lies[*surfaces_of(row).begin()];
        lies.asked = 100;
        for (uint32_t place = 0; place < told; ++place) {
            lies.told.insert(place);
        }
        result.mutations = told;
        return result;
    }

    hp::TempTree tree_;
    Scenario scenario_;
    HostilePlan plan_;
    JournalIdentity identity_ = {"key", "mi300x", 2, 1, 400};
};

TEST_F(HostileRowsTest, WhatWasNotLiedAboutComesMoreOften) {
    HostileJournal journal = this->journal();
    HostileRows rows(plan_, journal);
    std::map<std::string, int> times;
    while (const auto row = rows.next()) {
        const bool registers = row->variant->name == "registers";
        ++times[row->variant->name];
        ASSERT_TRUE(rows.finished(done(*row, registers ? 10 : 100)));
    }
    // 0.9 of registers are left, and firmware has the least weight of 0.1.
    EXPECT_EQ(times["registers"] + times["firmware"], 400);
    EXPECT_GT(times["registers"], 330);
    EXPECT_GT(times["firmware"], 10) << "but it comes";
    EXPECT_DOUBLE_EQ(share_untold(plan_.rows[0], journal), 0.9);
}

TEST_F(HostileRowsTest, ACycleIsTheRowOfThatNumber) {
    HostileJournal journal = this->journal();
    plan_.shard = {2, 3};
    HostileRows rows(plan_, journal);
    for (const unsigned number : {2U, 5U, 8U}) {
        const auto row = rows.next();
        ASSERT_TRUE(row);
        EXPECT_EQ(row->cycle, number);
        EXPECT_EQ(row->seed, 1U);
        ASSERT_TRUE(rows.finished(done(*row, 1)));
    }
    EXPECT_EQ(
        journal.cycles()[1].row + "/5",
        journal.cycles()[1].scenario + "/" + journal.cycles()[1].surfaces.begin()->first + "/5");
}

TEST_F(HostileRowsTest, GoesOnWithWhatIsLeftAndDrawsTheSame) {
    std::string third;
    {
        HostileJournal journal = this->journal();
        HostileRows rows(plan_, journal);
        for (int i = 0; i < 2; ++i) {
            ASSERT_TRUE(rows.finished(done(*rows.next(), 5)));
        }
        third = rows.next()->id();  // under way when the harness was killed
    }
    HostileJournal journal = this->journal();
    HostileRows rows(plan_, journal);
    EXPECT_EQ(rows.size(), 398U);
    EXPECT_EQ(rows.next()->id(), third);
}

TEST_F(HostileRowsTest, ARowThatCannotRunIsLeftOutAndItsCycleDrawnAnew) {
    HostileJournal journal = this->journal();
    HostileRows rows(plan_, journal);
    RowResult skipped;
    skipped.outcome = Outcome::skip;
    skipped.skip_reason = "needs another profile";
    const auto first = rows.next();
    ASSERT_TRUE(rows.finished(skipped));
    const auto other = rows.next();
    ASSERT_TRUE(other);
    EXPECT_EQ(other->cycle, 1U);
    EXPECT_NE(other->expected_key(), first->expected_key());
    ASSERT_TRUE(rows.finished(skipped));
    EXPECT_FALSE(rows.next()) << "nothing is left";
    EXPECT_EQ(journal.left_out().size(), 2U);
    EXPECT_TRUE(journal.cycles().empty());
}

TEST_F(HostileRowsTest, NothingBeginsAfterItsTime) {
    HostileJournal journal = this->journal();
    plan_.until = Deadline::after(std::chrono::seconds(0));
    EXPECT_FALSE(HostileRows(plan_, journal).next());
}

}  // namespace
}  // namespace hotplug
