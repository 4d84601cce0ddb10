// SPDX-License-Identifier: GPL-2.0
// Purpose: see nearest.h. Thread: pure functions.
#include "hotplug/scenario/nearest.h"

#include <algorithm>
#include <utility>

namespace hotplug {

size_t edit_distance(std::string_view a, std::string_view b) {
    // rows[i][j]: of the first i characters of `a` and the first j of `b`.
    std::vector<std::vector<size_t>> rows(a.size() + 1, std::vector<size_t>(b.size() + 1));
    for (size_t i = 0; i <= a.size(); ++i) {
        for (size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                rows[i][j] = i + j;
                continue;
            }
            rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1,
                                   rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
            }
        }
    }
    return rows[a.size()][b.size()];
}

std::vector<std::string> nearest(std::string_view word, std::span<const std::string> known) {
    constexpr size_t most = 2;
    std::vector<std::pair<size_t, std::string>> found;
    for (const std::string& candidate : known) {
        const size_t distance = edit_distance(word, candidate);
        const bool again = std::any_of(found.begin(), found.end(),
                                       [&](const auto& one) { return one.second == candidate; });
        if (distance <= std::max<size_t>(1, word.size() / 3) && !again) {
            found.emplace_back(distance, candidate);
        }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> words;
    for (size_t i = 0; i < std::min(most, found.size()); ++i) {
        if (found[i].first > found[0].first + 1) {
            break;
        }
        words.push_back(std::move(found[i].second));
    }
    return words;
}

}  // namespace hotplug
