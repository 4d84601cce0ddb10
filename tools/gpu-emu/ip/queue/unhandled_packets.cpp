// SPDX-License-Identifier: GPL-2.0
// Thread: device loop only.
#include "gpu-emu/ip/queue/unhandled_packets.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <span>
#include <vector>

namespace gpuemu {

void UnhandledPackets::note(std::string_view what, uint8_t opcode) {
    if (counts_[{what, opcode}]++ == 0) {
        spdlog::warn("engine={} event={} opcode={:#04x} first=1", engine_, what, opcode);
    }
}

uint64_t UnhandledPackets::count(std::string_view what, uint8_t opcode) const {
    const auto found = counts_.find({what, opcode});
    return found == counts_.end() ? 0 : found->second;
}

std::string UnhandledPackets::describe() const {
    std::vector<std::pair<std::pair<std::string_view, uint8_t>, uint64_t>> kinds(counts_.begin(),
                                                                                 counts_.end());
    const auto described =
        kinds.begin() + std::min<std::ptrdiff_t>(most_described, std::ssize(kinds));
    std::partial_sort(kinds.begin(), described, kinds.end(), [](const auto& a, const auto& b) {
        return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    std::string lines;
    for (const auto& [key, times] : std::span(kinds.begin(), described)) {
        lines +=
            fmt::format("{} {} opcode {:#04x}: {} times\n", engine_, key.first, key.second, times);
    }
    if (described != kinds.end()) {
        const uint64_t times =
            std::accumulate(described, kinds.end(), uint64_t{0},
                            [](uint64_t sum, const auto& kind) { return sum + kind.second; });
        lines +=
            fmt::format("{} {} other kinds: {} times\n", engine_, kinds.end() - described, times);
    }
    return lines;
}

}  // namespace gpuemu
