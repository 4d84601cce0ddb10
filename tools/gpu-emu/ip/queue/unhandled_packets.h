// SPDX-License-Identifier: GPL-2.0
// Purpose: what an engine met and did not carry out: counted by kind, the first of each logged. A
// guest can send rubbish for ever without filling a log. Thread: device loop only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace gpuemu {

class UnhandledPackets {
public:
    explicit UnhandledPackets(std::string engine) : engine_(std::move(engine)) {}

    /// `what` is a string literal; `opcode` bounds the table to 256 entries of each.
    void note(std::string_view what, uint8_t opcode);

    uint64_t count(std::string_view what, uint8_t opcode) const;
    /// A line for each of the most frequent kinds, and one for all others.
    std::string describe() const;
    static constexpr int most_described = 16;

private:
    std::string engine_;
    std::map<std::pair<std::string_view, uint8_t>, uint64_t> counts_;
};

}  // namespace gpuemu
