// SPDX-License-Identifier: GPL-2.0
// Thread: device loop only.
#include "gpu-emu/ip/queue/unhandled_packets.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

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
    std::string lines;
    for (const auto& [key, times] : counts_) {
        lines +=
            fmt::format("{} {} opcode {:#04x}: {} times\n", engine_, key.first, key.second, times);
    }
    return lines;
}

}  // namespace gpuemu
