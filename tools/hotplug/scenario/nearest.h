// SPDX-License-Identifier: GPL-2.0
// Purpose: which known words a misspelt one may stand for. Thread: pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hotplug {

/// How many characters have to be inserted, left out, replaced, or swapped with their neighbour to
/// make one of the other.
size_t edit_distance(std::string_view a, std::string_view b);

/// The one or two words of `known` that are nearest to `word`, nearest first; none that differs in
/// more than a third of it, or in two characters more than the nearest.
std::vector<std::string> nearest(std::string_view word, std::span<const std::string> known);

}  // namespace hotplug
