// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/peers/hive_port.h"

#include <utility>

namespace gpuemu {

HivePort::HivePort(hp::EventLoop& loop, std::string directory, HiveSeat seat)
    : links_(loop, {.directory = std::move(directory),
                    .link = "xgmi",
                    .nodes = seat.nodes,
                    .node = seat.node,
                    .largest_vram = seat.segment_bytes}) {}

std::span<std::byte> HivePort::window(unsigned node, uint64_t offset, uint64_t length, bool write) {
    ++(write ? traffic_.writes : traffic_.reads);
    const PeerVram* const peer = links_.find(node);
    if (peer != nullptr && peer->present()) {
        return peer->window(offset, length);
    }
    ++traffic_.absent;
    return nobody_.window(offset, length, write);
}

}  // namespace gpuemu
