// SPDX-License-Identifier: GPL-2.0
// Purpose: a number with its noun, for people: "1 cycle", "2 cycles". Thread: pure function.
// Does not model: nouns whose plural takes more than an s.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hp {

inline std::string counted(size_t number, std::string_view noun) {
    return std::to_string(number) + ' ' + std::string(noun) + (number == 1 ? "" : "s");
}

}  // namespace hp
