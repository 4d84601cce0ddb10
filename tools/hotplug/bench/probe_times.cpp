// SPDX-License-Identifier: GPL-2.0
// Purpose: see probe_times.h.
// Thread: see probe_times.h.
#include "hotplug/bench/probe_times.h"

#include <string_view>

namespace hotplug {

namespace {

// amdgpu_device_init() begins with
//   amdgpu 0000:01:00.0: initializing kernel modesetting (IP DISCOVERY 0x1002:0x74A1 ...
// and drm_dev_register(), which is asked last, ends with
//   [drm] Initialized amdgpu 3.64.0 for 0000:01:00.0 on minor 0
constexpr std::string_view first_words = ": initializing kernel modesetting";
constexpr std::string_view before_first = "amdgpu ";
constexpr std::string_view last_words = "Initialized amdgpu ";
constexpr std::string_view before_last = " for ";

/// The address that stands between `before` and `after` words, or nothing.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
    const size_t end = text.find(after);
    const size_t begin = end == 0 ? std::string_view::npos : text.rfind(before, end - 1);
    if (end == std::string_view::npos || begin == std::string_view::npos) {
        return {};
    }
    const size_t from = begin + before.size();
    return from < end ? text.substr(from, end - from) : std::string_view();
}

}  // namespace

std::map<std::string, std::chrono::microseconds> probe_times(std::span<const KernelLine> log) {
    std::map<std::string, uint64_t, std::less<>> begun;
    std::map<std::string, std::chrono::microseconds> times;
    for (const KernelLine& line : log) {
        const std::string_view text = line.text;
        if (const auto gpu = between(text, before_first, first_words); !gpu.empty()) {
            begun.insert_or_assign(std::string(gpu), line.time_us);
        } else if (text.find(last_words) != std::string_view::npos) {
            const auto found = begun.find(between(text, before_last, " on minor"));
            if (found != begun.end() && line.time_us >= found->second) {
                times[found->first] = std::chrono::microseconds(line.time_us - found->second);
            }
        }
    }
    return times;
}

}  // namespace hotplug
