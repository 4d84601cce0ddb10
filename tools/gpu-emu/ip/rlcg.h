// SPDX-License-Identifier: GPL-2.0
// Purpose: RLCG: how a virtual function reaches GC registers while it has full access: address and
// value in scratch registers, a ring of RLC_SPARE_INT.
// Thread: device loop only.
// Does not model: the host's list of registers a virtual function may touch: all are allowed.
#pragma once

#include <cstdint>

#include "gpu-emu/device/register_file.h"
#include "gpu-emu/ip/ip_block.h"
#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

class Rlcg : public IpBlock {
public:
    Rlcg(const Profile& profile, RegisterFile& registers);

    void reset(ResetKind kind) override;

private:
    void carry_out();

    const IpInstance& ip_;
    RegisterFile& registers_;
    bool busy_ = false;
};

}  // namespace gpuemu
