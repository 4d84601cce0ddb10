// SPDX-License-Identifier: GPL-2.0
// Purpose: see nearest.h.
// Thread: pure functions.
#include "lib/nearest.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace hp {

namespace {

/// Levenshtein's, row by row of his table.
size_t distance(std::string_view from, std::string_view to) {
    std::vector<size_t> row(to.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 0; i < from.size(); ++i) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < to.size(); ++j) {
            const size_t changed = diagonal + (from[i] == to[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> names) {
    std::string best;
    size_t least = word.size() / 3 + 1;
    for (const std::string& name : names) {
        if (const size_t far = distance(word, name); far < least) {
            least = far;
            best = name;
        }
    }
    return best;
}

}  // namespace hp
