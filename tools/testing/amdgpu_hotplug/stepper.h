// SPDX-License-Identifier: GPL-2.0
// Purpose: run a function of the state machine one atomic operation at a time, so that the model
// check can put the steps of others between any two of them. A function is left after its step and
// begun anew for the next: what it has found so far is given to it again, without any effect. That
// is sound because a function depends on nothing but its argument and what its atomic operations
// find. Thread: one at a time. Not modelled: an order of memory that is weaker than the order of
// the steps (the race test is there for that).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>

namespace hp::model {

using Function = int (*)(int* word);

/// What the atomic operations of an unfinished call found.
struct Observed {
    static constexpr std::uint8_t limit = 9;
    std::uint8_t count = 0;
    std::array<std::int8_t, limit> values{};

    auto operator<=>(const Observed&) const = default;
};

/// Do the next atomic operation of a call. The result if the call ended with it; `observed` is then
/// empty again.
std::optional<int> step(Function function, int& word, Observed& observed);

/// Call a function without anybody else's step in between.
int whole(Function function, int& word);

}  // namespace hp::model
