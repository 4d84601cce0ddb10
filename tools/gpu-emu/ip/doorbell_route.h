// SPDX-License-Identifier: GPL-2.0
// Purpose: whom a doorbell is for. NBIO looks at the low 12 bits of its address: what lies in none
// of the ranges that the driver has set for the other blocks is the command processor's (said of
// SOC15 in amdgpu_amdkfd_device_init(), which keeps KFD out of those). Thread: values.
#pragma once

#include <cstdint>

namespace gpuemu {

struct DoorbellRoute {
    enum class Block : uint8_t { cp, ih, sdma, video };

    Block block = Block::cp;
    unsigned instance = 0;  // of SDMA

    bool operator==(const DoorbellRoute&) const = default;
};

}  // namespace gpuemu
