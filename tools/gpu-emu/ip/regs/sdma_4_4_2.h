// SPDX-License-Identifier: GPL-2.0
// Purpose: the registers of one SDMA 4.4.2 instance that the model gives a meaning; numbers and
// names from drivers/gpu/drm/amd/include/asic_reg/sdma/sdma_4_4_2_{offset,sh_mask}.h. Thread:
// constants.
#pragma once

#include <cstdint>

#include "gpu-emu/ip/regs/registers.h"

namespace gpuemu::sdma_4_4_2 {

inline constexpr Reg regSDMA_STATUS_REG{0x0025, 0};
using SDMA_STATUS_REG__IDLE = Field<0, 0>;

// The GFX, PAGE and RLC0..7 queues have the same registers at these first dwords, 0x58 apart.
inline constexpr Reg regSDMA_GFX_RB_CNTL{0x0080, 0};
inline constexpr Reg regSDMA_PAGE_RB_CNTL{0x00d8, 0};
inline constexpr Reg regSDMA_RLC0_RB_CNTL{0x0130, 0};
inline constexpr uint32_t queue_stride = 0x58;

/// Registers of a queue, relative to its RB_CNTL: the GFX queue's numbers stand for all.
enum QueueReg : uint32_t {
    RB_CNTL = 0x00,
    RB_BASE = 0x01,
    RB_BASE_HI = 0x02,
    RB_RPTR = 0x03,
    RB_RPTR_HI = 0x04,
    RB_WPTR = 0x05,
    RB_WPTR_HI = 0x06,
    RB_RPTR_ADDR_HI = 0x08,
    RB_RPTR_ADDR_LO = 0x09,
    IB_BASE_LO = 0x0d,
    IB_BASE_HI = 0x0e,
    IB_SIZE = 0x0f,
    CONTEXT_STATUS = 0x11,
    DOORBELL = 0x12,
    STATUS = 0x28,
    DOORBELL_OFFSET = 0x2b,
};
using RB_CNTL__RB_ENABLE = Field<0, 0>;
using RB_CNTL__RB_SIZE = Field<5, 1>;
using RB_CNTL__RPTR_WRITEBACK_ENABLE = Field<12, 12>;
using RB_CNTL__RB_VMID = Field<27, 24>;
using CONTEXT_STATUS__SELECTED = Field<0, 0>;
using CONTEXT_STATUS__IDLE = Field<2, 2>;
using DOORBELL__ENABLE = Field<28, 28>;
using DOORBELL_OFFSET__OFFSET = Field<27, 2>;

}  // namespace gpuemu::sdma_4_4_2
