// SPDX-License-Identifier: GPL-2.0
// Purpose: the order of a sweep's rows: counted first, phases in turns, nothing twice.
// Thread: one.
#include "hotplug/sweep/sweep_rows.h"

#include <gtest/gtest.h>

#include <map>

#include "lib/temp_tree.h"

namespace hotplug {
namespace {

class SweepRowsTest : public testing::Test {
protected:
    SweepRowsTest() {
        scenario_.id = "sweep";
        scenario_.variants = {{"probe", {}}, {"reset", {}}};
        for (const Variant& variant : scenario_.variants) {
            plan_.phases.push_back({&scenario_, &variant});
        }
    }

    SweepJournal journal() {
        auto opened = SweepJournal::open(tree_.root() / "j", identity_, {});
        EXPECT_TRUE(opened) << opened.error().message;
        return std::move(*opened);
    }

    /// What a guest makes of the row: `accesses` of the phase when it runs to its end.
    static RowResult done(const Row& row, uint64_t accesses) {
        RowResult result;
        Episode episode;
        episode.loss.vanishing =
            Vanishing{row.access == 0 ? accesses : row.access - 1, "d", "c", ""};
        result.episodes.push_back(episode);
        return result;
    }

    hp::TempTree tree_;
    Scenario scenario_;
    SweepPlan plan_;
    JournalIdentity identity_ = {"key", "mi300x", 2, 1, 4};
};

TEST_F(SweepRowsTest, CountsEachPhaseAndThenTriesThemInTurns) {
    SweepJournal journal = this->journal();
    SweepRows rows(plan_, journal);
    std::vector<std::string> ids;
    while (const auto row = rows.next()) {
        ids.push_back(row->id());
        ASSERT_TRUE(rows.finished(done(*row, 400)));
    }
    ASSERT_EQ(ids.size(), 10U);
    EXPECT_EQ(ids[0], "sweep/probe");
    EXPECT_EQ(ids[1], "sweep/reset");
    for (size_t i = 2; i < ids.size(); ++i) {
        EXPECT_EQ(ids[i].substr(0, 12), i % 2 == 0 ? "sweep/probe@" : "sweep/reset@");
    }
    EXPECT_EQ(journal.counts().at("probe"), 400U);
    EXPECT_EQ(journal.points().size(), 10U) << "the end of each phase is a point, too";
}

TEST_F(SweepRowsTest, GoesOnWithWhatIsLeft) {
    std::set<std::string> first;
    {
        SweepJournal journal = this->journal();
        SweepRows rows(plan_, journal);
        for (int i = 0; i < 5; ++i) {
            const auto row = rows.next();
            first.insert(row->id());
            ASSERT_TRUE(rows.finished(done(*row, 400)));
        }
        (void)rows.next();  // under way when the harness was killed
    }
    SweepJournal journal = this->journal();
    SweepRows rows(plan_, journal);
    EXPECT_EQ(rows.size(), 5U);
    size_t more = 0;
    while (const auto row = rows.next()) {
        EXPECT_FALSE(first.contains(row->id())) << row->id();
        ASSERT_TRUE(rows.finished(done(*row, 400)));
        ++more;
    }
    EXPECT_EQ(more, 5U);
}

TEST_F(SweepRowsTest, APhaseThatCannotBeDoneIsLeftOutWithTheReason) {
    SweepJournal journal = this->journal();
    SweepRows rows(plan_, journal);
    (void)rows.next();
    RowResult skipped;
    skipped.outcome = Outcome::skip;
    skipped.skip_reason = "needs a kernel with CONFIG_SUSPEND";
    ASSERT_TRUE(rows.finished(skipped));
    EXPECT_EQ(rows.next()->id(), "sweep/reset");
    ASSERT_TRUE(rows.finished(RowResult())) << "nothing was lost, so nothing was counted";
    EXPECT_FALSE(rows.next());
    EXPECT_EQ(journal.left_out().at("probe"), "needs a kernel with CONFIG_SUSPEND");
    EXPECT_EQ(journal.left_out().at("reset").substr(0, 30), "its accesses could not be coun");
}

TEST_F(SweepRowsTest, APointThatCouldNotBeDoneIsAFailureOfItsOwn) {
    SweepJournal journal = this->journal();
    plan_.accesses = {17};
    plan_.phases.resize(1);
    SweepRows rows(plan_, journal);
    EXPECT_EQ(rows.next()->id(), "sweep/probe@17") << "named accesses need no count";
    RowResult failed;
    failed.outcome = Outcome::fail;
    failed.checks = {{.check = Check::steps, .passed = false, .evidence = {"QEMU ended"}}};
    ASSERT_TRUE(rows.finished(failed));
    EXPECT_FALSE(rows.next());
    ASSERT_EQ(journal.points().size(), 1U);
    EXPECT_FALSE(journal.points()[0].passed);
    EXPECT_EQ(journal.points()[0].failures[0].key(), "steps: QEMU ended");
}

TEST_F(SweepRowsTest, NothingBeginsAfterItsTime) {
    SweepJournal journal = this->journal();
    plan_.until = Deadline::after(std::chrono::seconds(0));
    EXPECT_FALSE(SweepRows(plan_, journal).next());
}

}  // namespace
}  // namespace hotplug
