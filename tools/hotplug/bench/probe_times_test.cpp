// SPDX-License-Identifier: GPL-2.0
// Purpose: probe times out of a kernel log with two GPUs, one of which comes twice. Thread: one.
#include "hotplug/bench/probe_times.h"

#include <gtest/gtest.h>

#include <vector>

namespace hotplug {
namespace {

using namespace std::chrono_literals;

KernelLine line(uint64_t seconds, const std::string& text) {
    return {.level = 6, .seq = 0, .time_us = seconds * 1'000'000, .text = text};
}

std::string first_of(const std::string& bdf) {
    return "amdgpu " + bdf + ": initializing kernel modesetting (IP DISCOVERY 0x1002:0x74A1).";
}

std::string last_of(const std::string& bdf) {
    return "[drm] Initialized amdgpu 3.64.0 for " + bdf + " on minor 0";
}

TEST(ProbeTimesTest, EachGpuItsLast) {
    const std::vector<KernelLine> log{
        line(10, "amdgpu 0000:01:00.0: enabling device (0000 -> 0002)"),
        line(10, first_of("0000:01:00.0")),
        line(14, last_of("0000:01:00.0")),
        line(14, last_of("amdgpu_xcp_0")),
        line(15, first_of("0000:02:00.0")),
        line(20, last_of("0000:02:00.0")),
        line(50, first_of("0000:01:00.0")),
        line(57, last_of("0000:01:00.0")),
    };
    const auto times = probe_times(log);
    ASSERT_EQ(times.size(), 2u);
    EXPECT_EQ(times.at("0000:01:00.0"), 7s);
    EXPECT_EQ(times.at("0000:02:00.0"), 5s);
}

TEST(ProbeTimesTest, AProbeThatDidNotEndHasNone) {
    const std::vector<KernelLine> log{line(10, first_of("0000:01:00.0")),
                                      line(11, "Initialized amdgpu "),
                                      line(11, ": initializing kernel modesetting")};
    EXPECT_TRUE(probe_times(log).empty());
    EXPECT_TRUE(probe_times({}).empty());
}

}  // namespace
}  // namespace hotplug
