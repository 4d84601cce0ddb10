// SPDX-License-Identifier: GPL-2.0
// Purpose: the file of a sweep: it survives being broken off, adds up, and refuses what does not.
// The report made of it. Thread: one.
#include "hotplug/sweep/sweep_journal.h"

#include <gtest/gtest.h>

#include <fstream>

#include "hotplug/sweep/sweep_report.h"
#include "lib/temp_tree.h"

namespace hotplug {
namespace {

SweepPoint point(const std::string& phase, uint64_t access, const std::string& digest = "d") {
    SweepPoint result;
    result.phase = phase;
    result.access = access;
    result.accesses = access - 1;
    result.at = "mmio_read of regGRBM_STATUS";
    result.digest = result.cpu_digest = digest;
    result.late = access;
    result.passed = true;
    result.seconds = 3.6;
    return result;
}

SweepPoint failing(const std::string& phase, uint64_t access, const std::string& title,
                   std::vector<std::string> stack) {
    SweepPoint result = point(phase, access);
    result.passed = false;
    result.failures = {{title, std::move(stack)}};
    return result;
}

class SweepJournalTest : public testing::Test {
protected:
    hp::Result<SweepJournal> open(const std::string& name = "a") {
        return SweepJournal::open(tree_.root() / name, identity_, {"--kernel", "/k"});
    }
    void append(const std::string& text) {
        std::ofstream(tree_.root() / "a", std::ios::app) << text;
    }

    hp::TempTree tree_;
    JournalIdentity identity_ = {"key", "mi300x", 2, 1, 100};
};

TEST_F(SweepJournalTest, GoesOnWhereItWasBrokenOff) {
    {
        auto journal = open();
        ASSERT_TRUE(journal);
        ASSERT_TRUE(journal->add_count("probe", 8163));
        ASSERT_TRUE(journal->add(point("probe", 7)));
        ASSERT_TRUE(journal->add(failing("probe", 9, "WARNING in f", {"f", "g"})));
        ASSERT_TRUE(journal->add_left_out("suspend-resume", "needs CONFIG_SUSPEND"));
    }
    append("{\"point\": {\"phase\": \"pro");
    auto again = open();
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->counts().at("probe"), 8163U);
    ASSERT_EQ(again->points().size(), 2U);
    EXPECT_TRUE(again->tried("probe", 7));
    EXPECT_FALSE(again->tried("probe", 8));
    EXPECT_FALSE(again->tried("reset", 7));
    EXPECT_EQ(again->points()[1].failures[0].stack, (std::vector<std::string>{"f", "g"}));
    EXPECT_EQ(again->points()[1].late, 9U);
    EXPECT_EQ(again->points()[0].at, "mmio_read of regGRBM_STATUS");
    EXPECT_TRUE(again->left_out().empty()) << "it is tried again";
    ASSERT_TRUE(again->add(point("probe", 8)));
    EXPECT_EQ(open()->points().size(), 3U) << "the line that was cut off is gone";
}

TEST_F(SweepJournalTest, RefusesAnotherSweepAndWhatItCannotRead) {
    ASSERT_TRUE(open());
    identity_.seed = 2;
    EXPECT_NE(open().error().message.find("another sweep"), std::string::npos);
    identity_.seed = 1;
    identity_.kernel = "rebuilt";
    EXPECT_NE(open().error().message.find("another sweep"), std::string::npos);
    identity_.kernel = "key";
    append("rubbish\n");
    EXPECT_NE(open().error().message.find("a:2:"), std::string::npos);
}

TEST_F(SweepJournalTest, ShardsAddUp) {
    auto a = open("a");
    auto b = open("b");
    ASSERT_TRUE(a->add_count("probe", 8163) && a->add(point("probe", 7)) &&
                a->add(point("probe", 9, "x")));
    ASSERT_TRUE(b->add_count("probe", 8165) && b->add(point("probe", 8)) &&
                b->add(point("probe", 7)) && b->add(point("probe", 9, "y")));
    const std::vector<std::filesystem::path> files = {tree_.root() / "a", tree_.root() / "b"};
    const auto merged = SweepJournal::merge(files);
    ASSERT_TRUE(merged) << merged.error().message;
    EXPECT_EQ(merged->points().size(), 5U);
    EXPECT_EQ(merged->counts().at("probe"), 8165U);
    const std::string text = format_sweep(*merged);
    EXPECT_NE(text.find("2 points were tried more than once: the accesses before the loss were the "
                        "same for 1, those of the CPU for 1, the verdict for 2"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("5 points tried in 18 s, boots included: 1000 points per hour"),
              std::string::npos)
        << text;

    identity_.kernel = "other";
    ASSERT_TRUE(open("c"));
    const std::vector<std::filesystem::path> wrong = {tree_.root() / "a", tree_.root() / "c"};
    EXPECT_FALSE(SweepJournal::merge(wrong));
}

TEST_F(SweepJournalTest, FailuresAreGroupedByStackAndEachHasItsReplay) {
    auto journal = open();
    ASSERT_TRUE(journal->add_count("probe", 200));
    ASSERT_TRUE(journal->add(point("probe", 1)));
    ASSERT_TRUE(journal->add(failing("probe", 7, "WARNING in f", {"f", "g"})));
    ASSERT_TRUE(journal->add(failing("reset", 9, "WARNING in f", {"f", "g"})));
    SweepPoint worse = failing("probe", 8, "WARNING in f", {"f", "h"});
    worse.failures.push_back({"removed: did not return", {}});
    ASSERT_TRUE(journal->add(worse));
    const std::string text = format_sweep(*journal);
    EXPECT_NE(text.find("3 points failed, in 2 groups"), std::string::npos) << text;
    EXPECT_NE(text.find("2 points: WARNING in f\n    f\n    g\n  at probe@7 reset@9\n"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("    h\n  with it, removed: did not return\n  at probe@8\n"),
              std::string::npos)
        << "what a complaint brings about is no group: " << text;
    EXPECT_NE(text.find("hpctl sweep probe --at 7 --kernel /k\n"), std::string::npos) << text;
    EXPECT_EQ(replay_commands(*journal).size(), 3U);
    EXPECT_NE(text.find("1.50 %       2       8\n"), std::string::npos)
        << "failed points, and the most late accesses of one: " << text;
    EXPECT_NE(text.find("1.50 %"), std::string::npos) << "the share is stated: " << text;
    EXPECT_NE(text.find("surprise-teardown"), std::string::npos) << "and what has no points";
}

TEST(SweepPointTest, ARowBecomesAPoint) {
    RowResult row;
    EXPECT_EQ(point_of(row, "probe", 3).digest, "") << "nothing was taken away";
    Episode episode;
    episode.loss.vanishing = Vanishing{2, "d", "c", "dma_read"};
    row.episodes = {episode};
    row.outcome = Outcome::fail;
    row.kernel_log.complaints.push_back({ComplaintKind::warning, "WARNING in f", 1, 1, {}, {"f"}});
    row.checks = {{.check = Check::log_clean, .passed = false, .evidence = {"WARNING in f"}},
                  {.check = Check::removed,
                   .passed = false,
                   .evidence = {"returned after 12.4 s, did not return within 10.0 s"}},
                  {.check = Check::no_access, .passed = false, .evidence = {"70 accesses"}},
                  {.check = Check::replug}};
    for (const char* name : {"regA", "regB", "regB"}) {
        row.episodes[0].accesses.first.push_back({{}, "mmio_read", 5, 0, name});
    }
    row.episodes[0].accesses.server = 60;
    row.episodes[0].accesses.black_hole = 10;
    const SweepPoint point = point_of(row, "probe", 3);
    EXPECT_EQ(point.accesses, 2U);
    EXPECT_EQ(point.late, 70U) << "those that the emulator saw, and those behind it";
    EXPECT_EQ(point.at, "dma_read");
    EXPECT_FALSE(point.passed);
    ASSERT_EQ(point.failures.size(), 3U) << "the log's complaint counts once";
    EXPECT_EQ(point.failures[0].key(), "WARNING in f | f");
    EXPECT_EQ(point.failures[1].key(),
              "removed: returned after #.# s, did not return within #.# s");
    EXPECT_EQ(point.failures[2].key(), "no_access: # accesses, most of them mmio_read regB");
}

}  // namespace
}  // namespace hotplug
