// SPDX-License-Identifier: GPL-2.0
// Purpose: a record of the guest's kernel log, as the agent tells it. Thread: values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hotplug {

/// One record of the guest's /dev/kmsg.
struct KernelLine {
    int level = 0;
    uint64_t seq = 0;
    uint64_t time_us = 0;  // printk's clock, which can be tens of milliseconds off CLOCK_MONOTONIC
    std::string text;
};

/// Begins the line that stands in the log where records are missing.
inline constexpr std::string_view log_gap_line = "hpctl: records of the kernel log are missing";

}  // namespace hotplug
