// SPDX-License-Identifier: GPL-2.0
// Purpose: see sweep_points.h.
// Thread: pure functions.
#include "hotplug/sweep/sweep_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace hotplug {

namespace {

/// splitmix64: the same on every host and with every standard library.
uint64_t scramble(uint64_t value) {
    value += 0x9e3779b97f4a7c15;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
}

uint64_t hash_of(std::string_view text) {
    uint64_t hash = 0;
    for (const char c : text) {
        hash = scramble(hash ^ static_cast<unsigned char>(c));
    }
    return hash;
}

bool read_number(std::string_view text, uint64_t& number) {
    const char* end = text.data() + text.size();
    return std::from_chars(text.data(), end, number) == std::from_chars_result{end, {}};
}

}  // namespace

hp::Result<Shard> parse_shard(const std::string& text) {
    Shard shard;
    const size_t slash = text.find('/');
    if (slash == std::string::npos || !read_number(text.substr(0, slash), shard.index) ||
        !read_number(text.substr(slash + 1), shard.of) || shard.index == 0 ||
        shard.index > shard.of) {
        return hp::fail(fmt::format("'{}' is no shard: write the second of three as 2/3", text));
    }
    return shard;
}

double draw_share(uint64_t seed, uint64_t turn) {
    constexpr unsigned mantissa = 53;
    return static_cast<double>(scramble(scramble(seed) ^ turn) >> (64 - mantissa)) /
           static_cast<double>(uint64_t{1} << mantissa);
}

uint64_t point_count(uint64_t accesses, uint64_t wanted) {
    return wanted == 0 ? accesses : std::min(accesses, wanted);
}

std::vector<PlannedPoint> plan_points(std::string_view phase, uint64_t accesses, uint64_t wanted,
                                      uint64_t seed, const Shard& shard) {
    const uint64_t count = point_count(accesses, wanted);
    const uint64_t key = scramble(seed) ^ hash_of(phase);
    std::vector<PlannedPoint> points;
    for (uint64_t i = shard.index - 1; i < count; i += shard.of) {
        const uint64_t begin = i * accesses / count;
        const uint64_t end = (i + 1) * accesses / count;
        points.push_back({i + 1, begin + 1 + scramble(key ^ i) % (end - begin)});
    }
    std::sort(points.begin(), points.end(), [&](const PlannedPoint& a, const PlannedPoint& b) {
        return scramble(~key ^ a.number) < scramble(~key ^ b.number);
    });
    return points;
}

}  // namespace hotplug
