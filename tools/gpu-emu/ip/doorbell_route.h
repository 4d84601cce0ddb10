// SPDX-License-Identifier: GPL-2.0
// Purpose: whom a doorbell is for. NBIO looks at the low 12 bits of its address: what lies in none
// of the ranges that the driver has set for the other blocks is the command processor's
// (kgd2kfd_device_init()'s gpu_resources.non_cp_doorbells_start). Thread: values.
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
