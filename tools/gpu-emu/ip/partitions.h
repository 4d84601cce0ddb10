// SPDX-License-Identifier: GPL-2.0
// Purpose: how the XCCs are joined to compute partitions, and the registers that say so: of NBIO
// for the whole GPU, of each XCC for its own place. Thread: device loop only. Does not model:
// memory partitions other than NPS1.
#pragma once

#include <cstdint>

#include "gpu-emu/device/register_file.h"
#include "gpu-emu/ip/ip_block.h"
#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

class Partitions : public IpBlock {
public:
    Partitions(const Profile& profile, RegisterFile& registers);

    /// As many partitions of as many XCCs each; false: there is no such mode.
    bool divide(uint32_t partitions);

    /// One partition after power-on and a function-level reset. Over the other resets the mode
    /// stays: the driver does not ask for it again.
    void reset(ResetKind kind) override;

private:
    void publish();

    const Profile& profile_;
    RegisterFile& registers_;
    uint32_t xccs_;
    uint32_t partitions_ = 1;
};

}  // namespace gpuemu
