// SPDX-License-Identifier: GPL-2.0
// Purpose: what a client's lines say, and when. Thread: one.
#include "hotplug/in_guest/clients/report.h"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

namespace hp::clients {
namespace {

using nlohmann::json;

const Description client = {.name = "c", .purpose = "Is tested", .states = {{"seen", "a sight"}}};

template <typename Action>
std::vector<json> lines_of(Action action) {
    ::testing::internal::CaptureStdout();
    action();
    std::istringstream text(::testing::internal::GetCapturedStdout());
    std::vector<json> lines;
    for (std::string line; std::getline(text, line);) {
        lines.push_back(json::parse(line));
    }
    return lines;
}

TEST(Reporter, EveryLineNamesClientStateAndTime) {
    const auto lines = lines_of([] { Reporter(client).ready({{"node", "n"}}); });
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0]["client"], "c");
    EXPECT_EQ(lines[0]["state"], "ready");
    EXPECT_EQ(lines[0]["node"], "n");
    EXPECT_GT(lines[0]["time_us"], 0);
}

TEST(Reporter, OnlyStatesThatTheClientDescribes) {
    const auto lines = lines_of([] { Reporter(client).say("seen"); });
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0]["state"], "seen");
    EXPECT_DEATH(Reporter(client).say("unseen"), "c describes no state 'unseen'");
}

TEST(Reporter, TheFirstBadResultIsSaidAtOnce) {
    const auto lines = lines_of([] {
        Reporter report(client);
        report.done(true);
        report.done(false);
        report.done(false);
    });
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[1]["bad"], 1);
}

TEST(Reporter, ProgressIsRare) {
    const auto lines = lines_of([] {
        Reporter report(client);
        for (int i = 0; i < 1000; ++i) {
            report.done(true);
        }
        EXPECT_EQ(report.done_count(), 1000u);
    });
    EXPECT_GE(lines.size(), 1u);
    EXPECT_LT(lines.size(), 100u);
    EXPECT_EQ(lines[0]["done"], 1);
}

TEST(Reporter, EachErrorIsSaidOnce) {
    const auto lines = lines_of([] {
        Reporter report(client);
        for (int i = 0; i < 3; ++i) {
            report.error({"AMDGPU_CS", ENODEV});
            report.error({"AMDGPU_CS", ETIME}, {{"ring", i}});
        }
    });
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0]["state"], "error");
    EXPECT_EQ(lines[0]["op"], "AMDGPU_CS");
    EXPECT_EQ(lines[0]["errno"], ENODEV);
    EXPECT_EQ(lines[1]["ring"], 0);
}

TEST(Reporter, TheEndCountsAndDecidesTheExitStatus) {
    int good_status = -1;
    int bad_status = -1;
    int lost_status = -1;
    const auto lines = lines_of([&] {
        Reporter good(client);
        good.done(true);
        good_status = good.end("done");
        Reporter bad(client);
        bad.done(false);
        bad_status = bad.end("done");
        lost_status = Reporter(client).end("device", {"AMDGPU_CS", ENODEV});
    });
    EXPECT_EQ(good_status, 0);
    EXPECT_NE(bad_status, 0);
    EXPECT_NE(lost_status, 0);
    ASSERT_EQ(lines.size(), 5u);
    EXPECT_EQ(lines[3]["bad"], 1);
    EXPECT_EQ(lines[4]["state"], "end");
    EXPECT_EQ(lines[4]["reason"], "device");
    EXPECT_EQ(lines[4]["op"], "AMDGPU_CS");
    EXPECT_EQ(lines[4]["errno"], ENODEV);
}

}  // namespace
}  // namespace hp::clients
