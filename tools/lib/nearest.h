// SPDX-License-Identifier: GPL-2.0
// Purpose: the name that was meant by a misspelt one. Thread: pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hp {

/// The one of `names` that takes the fewest letters added, left out or changed; the first of
/// several. Empty when none is close: more than a third of the letters would change.
std::string nearest(std::string_view word, std::span<const std::string> names);

}  // namespace hp
