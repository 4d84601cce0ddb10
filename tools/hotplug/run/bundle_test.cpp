// SPDX-License-Identifier: GPL-2.0
// Purpose: tests for bundle.h.
// Thread: one.
#include "hotplug/run/bundle.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gpu-emu/witness/trace_format.h"
#include "hotplug/report/excerpt.h"
#include "lib/temp_tree.h"

namespace hotplug {
namespace {

class BundleTest : public testing::Test {
protected:
    BundleTest() {
        std::filesystem::create_directories(root_ / "boot-1");
        tree_.file("s.json", "{}");
        row_.id = row_.name = "hang/busy";
        row_.scenario_file = root_ / "s.json";
    }

    hp::TempTree tree_;
    const std::filesystem::path root_ = tree_.root();
    RowResult row_;
};

TEST_F(BundleTest, ReplayIsReadBack) {
    RunInfo info;
    info.seed = 7;
    info.command = {"run", "flagship"};
    ASSERT_TRUE(write_kernel_log({{4, 0, 62695402, "a line"}}, root_ / "boot-1"));
    const auto bundle = write_bundle(row_, info, root_ / "boot-1", root_);
    ASSERT_TRUE(bundle) << bundle.error().message;
    EXPECT_EQ(*bundle, (root_ / "failed/hang-busy").string());
    std::ifstream log(std::filesystem::path(*bundle) / "dmesg.txt");
    std::string line;
    std::getline(log, line);
    EXPECT_EQ(line, "[   62.695402] a line");
    const auto replay = read_replay(*bundle);
    ASSERT_TRUE(replay) << replay.error().message;
    EXPECT_EQ(replay->row, "hang/busy");
    EXPECT_EQ(replay->seed, 7U);
    EXPECT_EQ(replay->command, (std::vector<std::string>{"run", "flagship"}));
}

TEST_F(BundleTest, EachTryHasItsOwnAndIsReplayedAsTheRow) {
    row_.id = "hang/busy~2";
    const auto bundle = write_bundle(row_, {}, root_ / "boot-1", root_);
    ASSERT_TRUE(bundle) << bundle.error().message;
    EXPECT_EQ(*bundle, (root_ / "failed/hang-busy~2").string());
    const auto replay = read_replay(*bundle);
    ASSERT_TRUE(replay) << replay.error().message;
    EXPECT_EQ(replay->row, "hang/busy");
}

TEST_F(BundleTest, HoldsTheEndOfALogAndTheTraceAroundTheLoss) {
    constexpr uint64_t records = 100'000;  // 3 MiB
    {
        std::ofstream log(root_ / "boot-1/console.log");
        for (int i = 0; i < 200'000; ++i) {
            log << "line " << i << "\n";
        }
        std::ofstream trace(root_ / "boot-1/gpu0.trace", std::ios::binary);
        const gpuemu::TraceHeader header{.magic = gpuemu::trace_magic,
                                         .version = gpuemu::trace_version,
                                         .record_size = sizeof(gpuemu::TraceRecord),
                                         .start_monotonic_ns = 0,
                                         .start_realtime_ns = 0,
                                         .profile = {}};
        trace.write(reinterpret_cast<const char*>(&header), sizeof header);
        for (uint64_t i = 0; i < records; ++i) {
            gpuemu::TraceRecord record{};
            record.time_ns = i * 1000;
            if (i < 30'000 && i % 3000 == 0) {
                record.kind = gpuemu::TraceKind::mutation;
            }
            trace.write(reinterpret_cast<const char*>(&record), sizeof record);
        }
    }
    row_.episodes.resize(1);
    row_.episodes[0].loss.event = Deadline::Clock::time_point(std::chrono::milliseconds(60));
    const auto bundle = write_bundle(row_, {}, root_ / "boot-1", root_);
    ASSERT_TRUE(bundle) << bundle.error().message;

    const std::filesystem::path folder = *bundle;
    std::ifstream log(folder / "console.log");
    std::string first;
    std::string last;
    std::getline(log, first);
    EXPECT_TRUE(first.starts_with("line ")) << first;
    for (std::string line; std::getline(log, line);) {
        last = line;
    }
    EXPECT_EQ(last, "line 199999");
    EXPECT_LE(std::filesystem::file_size(folder / "console.log"), excerpt_bytes);
    EXPECT_LE(std::filesystem::file_size(folder / "gpu0.trace"), excerpt_bytes);

    std::ifstream trace(folder / "gpu0.trace", std::ios::binary);
    gpuemu::TraceHeader header{};
    trace.read(reinterpret_cast<char*>(&header), sizeof header);
    EXPECT_EQ(header.magic, gpuemu::trace_magic);
    std::vector<uint64_t> times;
    std::vector<uint64_t> lies;
    for (gpuemu::TraceRecord record{};
         trace.read(reinterpret_cast<char*>(&record), sizeof record);) {
        (record.kind == gpuemu::TraceKind::mutation ? lies : times)
            .push_back(record.time_ns / 1000);
    }
    ASSERT_GT(times.size(), 32'000U);
    EXPECT_NEAR(static_cast<double>(times[times.size() / 2]), 60'000, 10)
        << "the loss is in the middle";
    ASSERT_EQ(lies.size(), 10U) << "however long before the loss they were told";
    EXPECT_EQ(lies.front(), 0U);
    EXPECT_EQ(lies.back(), 27'000U);
}

TEST_F(BundleTest, IsBounded) {
    for (int i = 0; i < 30; ++i) {
        std::ofstream(root_ / "boot-1" / fmt::format("gpu0-{}.log", i)) << "x";
    }
    const auto bundle = write_bundle(row_, {}, root_ / "boot-1", root_);
    ASSERT_TRUE(bundle) << bundle.error().message;
    const auto logs =
        std::count_if(std::filesystem::directory_iterator(*bundle), {},
                      [](const auto& file) { return file.path().extension() == ".log"; });
    EXPECT_EQ(logs, 24);
    std::ifstream readme(std::filesystem::path(*bundle) / "README");
    const std::string text{std::istreambuf_iterator<char>(readme), {}};
    EXPECT_NE(text.find("Left out: gpu0-"), std::string::npos) << text;
}

TEST_F(BundleTest, FailuresNameTheFolder) {
    EXPECT_FALSE(read_replay(root_));
    row_.scenario_file = root_ / "no-such.json";
    EXPECT_FALSE(write_bundle(row_, {}, root_ / "boot-1", root_));
    row_.scenario_file = root_ / "s.json";
    const auto bundle = write_bundle(row_, {}, root_ / "no-boot", root_);
    ASSERT_FALSE(bundle);
    EXPECT_EQ(bundle.error().message.find((root_ / "failed/hang-busy").string()), 0U);
}

}  // namespace
}  // namespace hotplug
