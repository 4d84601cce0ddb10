// SPDX-License-Identifier: GPL-2.0
// Purpose: see slab_growth.h.
// Thread: one at a time.
#include "hotplug/judge/slab_growth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace hotplug {

namespace {

constexpr unsigned first_cycles = 4;
constexpr size_t fewest_points = 12;
constexpr size_t most_points = 48;
constexpr size_t largest_block = 8;
constexpr size_t cycles_kept = most_points * largest_block;
/// Counts are whole: a line that is exact otherwise is off by up to half an object.
constexpr double rounding_noise = 0.3;
/// So many standard errors a slope must be above zero. Few points look like a line by chance more
/// often, and what lasts for some cycles makes noise look smaller than it is. Independent normal
/// noise gets there once in 10^8 looks or less; slab_growth_test.cpp tries noise of other kinds.
double least_ratio(size_t points) {
    return points < 24 ? 15 : points < 48 ? 12 : 11;
}

/// The fewest objects of each `size` cycles, of the last `points` times as many.
std::vector<uint64_t> block_minima(const std::deque<uint64_t>& counts, size_t size, size_t points) {
    std::vector<uint64_t> minima;
    for (auto at = counts.end() - static_cast<std::ptrdiff_t>(size * points); at != counts.end();
         at += static_cast<std::ptrdiff_t>(size)) {
        minima.push_back(*std::min_element(at, at + static_cast<std::ptrdiff_t>(size)));
    }
    return minima;
}

struct Growth {
    size_t cycles = 0;
    uint64_t from = 0;
    uint64_t to = 0;
};

std::optional<Growth> growth_of(const std::deque<uint64_t>& counts) {
    for (size_t size = 1; size <= largest_block; size *= 2) {
        for (size_t points = fewest_points; points <= most_points; points *= 2) {
            if (counts.size() < size * points) {
                break;
            }
            const std::vector<uint64_t> minima = block_minima(counts, size, points);
            if (grows(minima)) {
                return Growth{size * (points - 1), minima.front(), minima.back()};
            }
        }
    }
    return std::nullopt;
}

}  // namespace

bool counts_free_memory(const std::string& cache) {
    return cache == "gpu_buddy_block" || cache == "drm_buddy_block";
}

Trend trend_of(std::span<const uint64_t> points) {
    const auto n = static_cast<double>(points.size());
    double mean = 0;
    for (const uint64_t point : points) {
        mean += static_cast<double>(point) / n;
    }
    const double middle = (n - 1) / 2;
    double sum_xx = 0, sum_xy = 0;
    for (size_t i = 0; i < points.size(); ++i) {
        const double x = static_cast<double>(i) - middle;
        sum_xx += x * x;
        sum_xy += x * (static_cast<double>(points[i]) - mean);
    }
    Trend trend;
    trend.slope = sum_xy / sum_xx;
    double squares = 0;
    for (size_t i = 0; i < points.size(); ++i) {
        const double off =
            static_cast<double>(points[i]) - mean - trend.slope * (static_cast<double>(i) - middle);
        squares += off * off;
    }
    trend.noise = std::max(std::sqrt(squares / (n - 2)), rounding_noise);
    trend.ratio = trend.slope / (trend.noise / std::sqrt(sum_xx));
    return trend;
}

bool grows(std::span<const uint64_t> points) {
    if (points.size() < fewest_points || points.back() <= points.front()) {
        return false;
    }
    const size_t last = points.size() - 1;
    const uint64_t all = points[last] - points[0];
    for (size_t third = 0; third < 3; ++third) {
        const uint64_t from = points[last * third / 3], to = points[last * (third + 1) / 3];
        if (to <= from || 6 * (to - from) < all) {
            return false;
        }
    }
    return trend_of(points).ratio >= least_ratio(points.size());
}

std::vector<std::string> SlabGrowth::add_cycle(const std::map<std::string, uint64_t>& slab) {
    std::vector<std::string> grown;
    if (++cycles_ <= first_cycles) {
        return grown;
    }
    for (const auto& [cache, objects] : slab) {
        if (counts_free_memory(cache)) {
            continue;
        }
        std::deque<uint64_t>& counts = counts_[cache];
        counts.push_back(objects);
        if (counts.size() > cycles_kept) {
            counts.pop_front();
        }
        if (const auto growth = growth_of(counts)) {
            grown.push_back(
                fmt::format("slab {} grows: {} objects, {} cycles ago {}: {:.1f} a cycle", cache,
                            growth->to, growth->cycles, growth->from,
                            static_cast<double>(growth->to - growth->from) /
                                static_cast<double>(growth->cycles)));
            counts.clear();
        }
    }
    return grown;
}

}  // namespace hotplug
