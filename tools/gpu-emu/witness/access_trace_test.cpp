// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/witness/access_trace.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

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
