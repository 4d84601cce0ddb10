// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of the rate of the host's TSC.
// Thread: the test's.
#include "hotplug/machine/host_clock.h"

#include <gtest/gtest.h>

namespace hotplug {
namespace {

TEST(HostClockTest, ALongAndAShortMeasurementAgree) {
    const uint64_t khz = measure_tsc_khz(std::chrono::milliseconds(200));
    if (khz == 0) {
        GTEST_SKIP() << "the host has no TSC";
    }
    // A guest refines what it is told if it is right to 1 %.
    const auto near = [&](uint64_t other) {
        EXPECT_NEAR(static_cast<double>(other), static_cast<double>(khz),
                    static_cast<double>(khz) / 1000);
    };
    near(measure_tsc_khz(std::chrono::milliseconds(10)));
    near(host_tsc_khz());
    EXPECT_EQ(host_tsc_khz(), host_tsc_khz());
}

}  // namespace
}  // namespace hotplug
