// SPDX-License-Identifier: GPL-2.0
// Purpose: the SDMA instances of a profile: where their registers are, through which hub they see
// memory, and who their interrupts come from. Since SDMA 5 they belong to GC.
// Thread: values.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu-emu/mem/gpu_memory.h"
#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

struct SdmaLayout {
    uint32_t first_dword;  // of its registers
    Hub hub;
    uint8_t ih_client;
    uint8_t ih_node = 0;  // the AID, where there are nodes
};

/// In the order of the instances.
std::vector<SdmaLayout> sdma_layouts(const Profile& profile);

}  // namespace gpuemu
