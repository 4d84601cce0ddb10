// SPDX-License-Identifier: GPL-2.0
// Purpose: the memory of the other GPUs of an XGMI hive, by their links.
// Thread: device loop only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gpu-emu/mem/hive_seat.h"
#include "gpu-emu/mem/peer_memory.h"
#include "gpu-emu/peers/peer_links.h"

namespace gpuemu {

class HivePort : public PeerMemory {
public:
    /// `directory` is where all of the hive meet. Nobody is met yet.
    HivePort(hp::EventLoop& loop, std::string directory, HiveSeat seat);

    /// PeerLinks::open().
    void open(const Vram& vram) { links_.open(vram); }
    void set_present(bool present) { links_.presence().set(present); }

    std::span<std::byte> window(unsigned node, uint64_t offset, uint64_t length,
                                bool write) override;

    const PeerTraffic& traffic() const { return traffic_; }
    std::vector<unsigned> present_peers() const { return links_.present_peers(); }
    PeerStatus status() const {
        return {.node = links_.group().node, .peers = present_peers(), .traffic = traffic_};
    }
    std::size_t connections() const { return links_.connections(); }

private:
    PeerLinks links_;
    PeerTraffic traffic_;
    NobodysMemory nobody_;
};

}  // namespace gpuemu
