// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/witness/access_trace.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "gpu-emu/witness/trace_reader.h"

namespace gpuemu {
namespace {

class AccessTraceTest : public testing::Test {
protected:
    void TearDown() override { std::filesystem::remove(path); }

    std::vector<TraceRecord> records() {
        std::vector<TraceRecord> all;
        auto reader = TraceReader::open(path);
        EXPECT_TRUE(reader) << reader.error().message;
        while (const auto record = reader ? reader->next() : std::nullopt) {
            all.push_back(*record);
        }
        return all;
    }

    /// The time of its last record.
    uint64_t last_of_file() {
        std::ifstream file(path, std::ios::binary);
        TraceRecord record{};
        file.seekg(-static_cast<std::streamoff>(sizeof record), std::ios::end);
        file.read(reinterpret_cast<char*>(&record), sizeof record);
        return record.time_ns;
    }

    /// So that a trace with a buffer of 64 drops none. The file takes it, or loses it.
    void record_at_the_writers_pace(AccessTrace& trace, uint64_t number) {
        const uint64_t dropped = trace.dropped();
        trace.record(numbered(number));
        if (number % 32 != 31) {
            return;
        }
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (last_of_file() != number && trace.dropped() == dropped &&
               std::chrono::steady_clock::now() < end) {
            std::this_thread::yield();
        }
    }

    static TraceRecord numbered(uint64_t number) {
        return {.time_ns = number,
                .offset = 4 * number,
                .value = ~number,
                .size = 4,
                .kind = TraceKind::mmio_write,
                .region = 5,
                .flags = 0};
    }

    std::string path = testing::TempDir() + "access-trace-" +
                       testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(AccessTraceTest, WhatIsRecordedIsRead) {
    {
        AccessTrace trace(path, "mi300x");
        for (uint64_t i = 0; i < 1000; ++i) {
            trace.record(numbered(i));
        }
        EXPECT_EQ(trace.dropped(), 0u);
    }
    auto reader = TraceReader::open(path);
    ASSERT_TRUE(reader);
    EXPECT_EQ(reader->profile(), "mi300x");
    const auto all = records();
    ASSERT_EQ(all.size(), 1000u);
    EXPECT_EQ(all[999].offset, 4u * 999);
    EXPECT_EQ(all[999].value, ~uint64_t{999});
    EXPECT_EQ(all[999].kind, TraceKind::mmio_write);
}

TEST_F(AccessTraceTest, TheWriterSleepsWhileThereIsNothing) {
    const auto waits = [] {
        rusage usage{};
        ::getrusage(RUSAGE_SELF, &usage);
        return usage.ru_nvcsw;
    };
    AccessTrace trace(path, "toy");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const auto before = waits();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    EXPECT_LE(waits() - before, 3) << "one of them is this thread's";
    trace.record(numbered(1));
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (std::filesystem::file_size(path) == sizeof(TraceHeader) &&
           std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_EQ(records().size(), 1u) << "and wakes for the first";
}

TEST_F(AccessTraceTest, LongLabelsAreMarkedWhole) {
    const std::string label = "a label of more than sixteen bytes, in several records";
    {
        AccessTrace trace(path, "mi300x");
        trace.mark(label);
        trace.mark("");
    }
    std::string read;
    const auto all = records();
    ASSERT_EQ(all.size(), (label.size() + 15) / 16 + 1);
    for (const TraceRecord& record : all) {
        EXPECT_EQ(record.kind, TraceKind::mark);
        read += mark_text(record);
    }
    EXPECT_EQ(read, label);
    EXPECT_EQ(all[0].flags, mark_continues);
    EXPECT_EQ(all.back().flags, 0);
}

TEST_F(AccessTraceTest, WhatDoesNotFitIsCountedAndSaid) {
    constexpr uint64_t written = 100'000;
    uint64_t dropped = 0;
    {
        AccessTrace trace(path, "mi300x", 16);
        for (uint64_t i = 0; i < written; ++i) {
            trace.record(numbered(i));
        }
        dropped = trace.dropped();
    }
    uint64_t kept = 0;
    uint64_t said = 0;
    for (const TraceRecord& record : records()) {
        if (record.kind == TraceKind::dropped) {
            said += record.value;
        } else {
            ++kept;
        }
    }
    EXPECT_GT(dropped, 0u) << "a buffer of 16 records cannot hold this";
    EXPECT_EQ(kept + dropped, written);
    EXPECT_LE(said, dropped);
}

TEST_F(AccessTraceTest, AFileHasABoundAndKeepsTheLatest) {
    constexpr size_t limit = 8192;
    constexpr uint64_t written = 20'000;  // 78 times as much
    uint64_t largest = 0;
    {
        AccessTrace trace(path, "mi300x", 64, limit);
        for (uint64_t i = 0; i < written; ++i) {
            record_at_the_writers_pace(trace, i);
            largest = std::max<uint64_t>(largest, std::filesystem::file_size(path));
        }
        ASSERT_EQ(trace.dropped(), 0u);
    }
    EXPECT_LE(largest, limit);
    EXPECT_FALSE(std::filesystem::exists(path + ".shorter"));

    const auto all = records();
    ASSERT_GT(all.size(), limit / 2 / sizeof(TraceRecord)) << "it keeps half of that at least";
    EXPECT_EQ(all.front().kind, TraceKind::forgotten);
    EXPECT_EQ(all.front().value + all.size() - 1, written) << "each is there or counted";
    EXPECT_EQ(all.front().time_ns, all[1].time_ns) << "in the order of time like all";
    for (size_t i = 1; i < all.size(); ++i) {
        EXPECT_EQ(all[i].time_ns, written - all.size() + i);
    }
}

TEST_F(AccessTraceTest, AFullFolderLosesRecordsAndNotTheBound) {
    constexpr size_t limit = 8192;
    {
        std::filesystem::create_directory(path + ".shorter");  // so no shorter file can be made
        AccessTrace trace(path, "mi300x", 64, limit);
        for (uint64_t i = 0; i < 1'000; ++i) {
            record_at_the_writers_pace(trace, i);
        }
        EXPECT_GT(trace.dropped(), 0u);
    }
    std::filesystem::remove(path + ".shorter");
    EXPECT_LE(std::filesystem::file_size(path), limit);
    const auto all = records();
    ASSERT_FALSE(all.empty());
    EXPECT_GT(all.size(), 190u) << "it was full";
    EXPECT_EQ(all.front().time_ns, 0u) << "the first ones stay";
}

TEST_F(AccessTraceTest, WhatKeepsNothingHasNoBound) {
    AccessTrace trace("/dev/null", "mi300x", 64, 8192);
    for (uint64_t i = 0; i < 1000; ++i) {
        trace.record(numbered(i));
    }
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null")) << "nor is it replaced";
}

TEST_F(AccessTraceTest, AFileThatCannotBeWrittenIsAStartUpError) {
    EXPECT_THROW(AccessTrace("/nonexistent/folder/trace", "mi300x"), std::system_error);
    EXPECT_THROW(AccessTrace("/dev/full", "mi300x"), std::system_error);
}

TEST_F(AccessTraceTest, OtherFilesAreRefused) {
    EXPECT_FALSE(TraceReader::open(path + "-missing"));
    std::ofstream(path) << "not a trace, but longer than a header would be, to be sure of it: ....";
    EXPECT_FALSE(TraceReader::open(path));
}

TEST_F(AccessTraceTest, ATraceThatWasCutOffIsReadToItsLastWholeRecord) {
    {
        AccessTrace trace(path, "mi300x");
        trace.record(numbered(1));
        trace.record(numbered(2));
    }
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 5);
    auto reader = TraceReader::open(path);
    ASSERT_TRUE(reader);
    EXPECT_TRUE(reader->next());
    EXPECT_FALSE(reader->next());
    EXPECT_TRUE(reader->truncated());
}

}  // namespace
}  // namespace gpuemu
