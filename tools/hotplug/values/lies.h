// SPDX-License-Identifier: GPL-2.0
// Purpose: what a hostile device has told. Documentation/harness/hostile.md. Thread: values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace hotplug {

/// Of one surface: how many places of it the driver asked for, and those that it was lied to about.
struct SurfaceLies {
    uint64_t asked = 0;
    std::set<uint32_t> told{};

    bool operator==(const SurfaceLies&) const = default;
    /// Another device of the same kind, or the same one later: most of what it asks for is the
    /// same.
    void add(const SurfaceLies& more) {
        asked = std::max(asked, more.asked);
        told.insert(more.told.begin(), more.told.end());
    }
};

struct Lies {
    uint64_t count = 0;
    std::map<std::string, SurfaceLies> surfaces{};  ///< by name
};

}  // namespace hotplug
