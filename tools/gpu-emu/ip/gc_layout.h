// SPDX-License-Identifier: GPL-2.0
// Purpose: where the GC version of a profile keeps the registers of the command processor and the
// RLC that behave alike on all versions, and what else tells the versions apart.
// Thread: immutable after construction.
// Does not model: the hub of GC, which has a layout of its own (vm_hub.h).
#pragma once

#include <cstdint>
#include <optional>

#include "gpu-emu/ip/registers.h"
#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

struct GcLayout {
    const IpInstance& ip;
    uint8_t ih_node;     // of interrupts of the command processor
    bool graphics_ring;  // there is a micro engine (ME0) with queues of its own
    Reg GRBM_GFX_CNTL;
    Reg CP_MQD_BASE_ADDR;  // the first of the HQD window
    Reg CP_MEC_CNTL, CP_PQ_WPTR_POLL_CNTL1, CPC_INT_STATUS;
    Reg RLC_SAFE_MODE, RLC_CAPTURE_GPU_CLOCK_COUNT;
    Reg RLC_GPU_CLOCK_COUNT_LSB, RLC_GPU_CLOCK_COUNT_MSB;
    Reg CC_GC_SHADER_ARRAY_CONFIG, GC_USER_SHADER_ARRAY_CONFIG;
    Reg GRBM_STATUS, GRBM_STATUS2;
    std::optional<Reg> RLC_RLCS_BOOTLOAD_STATUS;  // of an RLC that loads the other firmware itself
};

GcLayout gc_layout(const Profile& profile);

}  // namespace gpuemu
