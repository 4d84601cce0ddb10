// SPDX-License-Identifier: GPL-2.0
// Purpose: what the registers of a GPU in an XGMI hive say of the hive: its size, which node this
// is, where the memory of the nodes is, and that the links are up.
// Thread: device loop only.
// Does not model: hives in which a node has no port of its first AID for each of the others, links
// that are down, the errors and counters of the links. What goes over them is FrameBuffer's
// (mem/frame_buffer.h).
#pragma once

#include "gpu-emu/device/register_file.h"
#include "gpu-emu/ip/ip_block.h"
#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

class Xgmi : public IpBlock {
public:
    /// Throws std::invalid_argument when the hive has more nodes than there are ports for
    /// (start-up).
    Xgmi(const Profile& profile, RegisterFile& registers);

    void reset(ResetKind kind) override;

private:
    const Profile& profile_;
    RegisterFile& registers_;
};

}  // namespace gpuemu
