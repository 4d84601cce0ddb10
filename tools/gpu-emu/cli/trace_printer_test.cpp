// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/cli/trace_printer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "gpu-emu/hostile/mutator.h"

namespace gpuemu {
namespace {

TraceRecord record(TraceKind kind, uint64_t time_ns, uint8_t region = no_region,
                   uint64_t offset = 0, uint64_t value = 0) {
    return {.time_ns = time_ns,
            .offset = offset,
            .value = value,
            .size = 4,
            .kind = kind,
            .region = region,
            .flags = 0};
}

TraceRecord mark(std::string text, uint16_t flags) {
    TraceRecord part = record(TraceKind::mark, 0);
    part.size = static_cast<uint32_t>(text.size());
    part.flags = flags;
    text.resize(mark_bytes);
    std::memcpy(&part.offset, text.data(), 8);
    std::memcpy(&part.value, text.data() + 8, 8);
    return part;
}

std::string print(const std::vector<TraceRecord>& records, TracePrinter::Options options) {
    TraceHeader header{};
    header.start_monotonic_ns = 1'000'000'000;
    std::ostringstream out;
    TracePrinter printer(
        header, options,
        [](uint32_t dword) { return std::string(dword == 0x10 ? "regCP_HQD_ACTIVE" : ""); }, out);
    for (const TraceRecord& one : records) {
        printer.add(one);
    }
    printer.finish();
    return out.str();
}

const std::vector<TraceRecord> story = {
    record(TraceKind::mmio_read, 1'000'001'000, 5, 0x40, 1),
    record(TraceKind::vanished, 1'500'000'000),
    record(TraceKind::mmio_write, 2'000'000'000, 5, 0x44, 2),
    record(TraceKind::mmio_write, 2'000'000'000, 5, 0x40, 2),
    record(TraceKind::restored, 3'000'000'000),
    record(TraceKind::dma_read, 4'000'000'000, no_region, 0x1000, 64),
};

TEST(TracePrinter, WhatATraceHasForgottenIsSaid) {
    TraceRecord first = record(TraceKind::forgotten, 1'000'000'000, no_region, 0, 12345);
    first.size = 0;
    EXPECT_NE(print({first}, {}).find("forgotten"), std::string::npos);
    EXPECT_NE(print({first}, {.summary = true}).find("12345  earlier records forgotten"),
              std::string::npos);
    const auto sums = nlohmann::json::parse(print({first}, {.json = true, .summary = true}));
    EXPECT_EQ(sums["records_forgotten"], 12345);
}

TEST(TracePrinter, AMutationSaysWhereWhatWasAndWhatIsTold) {
    const std::vector<TraceRecord> lies = {
        trace_record({Surface::registers, 0x10, 1, 2}, 1'000'000'000),
        trace_record({Surface::firmware, 0x20, 3, 4}, 1'000'000'000),
    };
    const std::string text = print(lies, {});
    EXPECT_NE(text.find("0x0000000100000002 registers regCP_HQD_ACTIVE\n"), std::string::npos)
        << text;
    EXPECT_NE(text.find("0x0000000300000004 firmware\n"), std::string::npos) << text;
    const std::string lines = print(lies, {.json = true});
    const auto line = nlohmann::json::parse(lines.substr(0, lines.find('\n')));
    EXPECT_EQ(line["surface"], "registers");
    EXPECT_EQ(line["name"], "regCP_HQD_ACTIVE");
    EXPECT_EQ(line["was"], 1);
    EXPECT_EQ(line["is"], 2);
    EXPECT_EQ(print(lies, {.summary = true}).find("regCP_HQD_ACTIVE"), std::string::npos)
        << "a lie is no access";
}

TEST(TracePrinter, TextNamesRegisters) {
    const std::string text = print(story, {});
    EXPECT_EQ(text.substr(0, text.find('\n')),
              "      0.000001  mmio_read      bar5   0x0000000040       4 0x0000000000000001 "
              "regCP_HQD_ACTIVE");
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6);
}

TEST(TracePrinter, AfterLossShowsThatOnly) {
    const std::string text = print(story, {.json = false, .after_loss = true, .summary = false});
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
    EXPECT_EQ(text.find("dma_read"), std::string::npos);
    EXPECT_NE(text.find("vanished"), std::string::npos);
}

TEST(TracePrinter, JsonLinesParse) {
    std::istringstream lines(print(story, {.json = true, .after_loss = false, .summary = false}));
    std::string line;
    std::vector<nlohmann::json> all;
    while (std::getline(lines, line)) {
        all.push_back(nlohmann::json::parse(line));
    }
    ASSERT_EQ(all.size(), 6u);
    EXPECT_EQ(all[0]["kind"], "mmio_read");
    EXPECT_EQ(all[0]["name"], "regCP_HQD_ACTIVE");
    EXPECT_EQ(all[5]["offset"], 0x1000);
    EXPECT_FALSE(all[5].contains("region"));
}

TEST(TracePrinter, SummaryCounts) {
    auto records = story;
    records.push_back(record(TraceKind::dropped, 5'000'000'000, no_region, 0, 12));
    const auto sums =
        nlohmann::json::parse(print(records, {.json = true, .after_loss = false, .summary = true}));
    EXPECT_EQ(sums["records"]["mmio_write"], 2);
    EXPECT_EQ(sums["registers"]["regCP_HQD_ACTIVE"], 2);
    EXPECT_EQ(sums["registers"]["0x11"], 1);
    EXPECT_EQ(sums["records_lost"], 12);
    EXPECT_NE(print(records, {.json = false, .after_loss = false, .summary = true})
                  .find("12  records lost while writing"),
              std::string::npos);
}

TEST(TracePrinter, MarksAreJoined) {
    const std::string text =
        print({mark("sixteen bytes of", mark_continues), mark(" label", 0)}, {});
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
    EXPECT_NE(text.find("sixteen bytes of label"), std::string::npos);
}

TEST(TracePrinter, KindsOfALaterVersionDoNotHurt) {
    const TraceRecord odd = record(static_cast<TraceKind>(200), 0, 77);
    EXPECT_FALSE(print({odd}, {}).empty());
    EXPECT_FALSE(print({odd}, {.json = false, .after_loss = false, .summary = true}).empty());
}

}  // namespace
}  // namespace gpuemu
