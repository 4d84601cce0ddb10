// SPDX-License-Identifier: GPL-2.0
// Purpose: the interrupt handler registers of OSSSYS 4.4.2; numbers and names from
// drivers/gpu/drm/amd/include/asic_reg/oss/osssys_4_4_2_{offset,sh_mask}.h.
// Thread: constants.
#pragma once

#include "gpu-emu/ip/regs/registers.h"

namespace gpuemu::osssys_4_4_2 {

// Which process a VMID of the GC hub and of the MM hub belongs to; 16 registers each, of the node
// that the index names.
inline constexpr Reg regIH_VMID_0_LUT{0x0000, 0};
inline constexpr Reg regIH_VMID_0_LUT_MM{0x0010, 0};
using IH_VMID_LUT__PASID = Field<15, 0>;
inline constexpr Reg regIH_VMID_LUT_INDEX{0x00ec, 0};
using IH_VMID_LUT_INDEX__INDEX = Field<3, 0>;

inline constexpr Reg regIH_RB_CNTL{0x0080, 0};
inline constexpr Reg regIH_RB_BASE{0x0081, 0};
inline constexpr Reg regIH_RB_BASE_HI{0x0082, 0};
inline constexpr Reg regIH_RB_RPTR{0x0083, 0};
inline constexpr Reg regIH_RB_WPTR{0x0084, 0};
inline constexpr Reg regIH_RB_WPTR_ADDR_HI{0x0085, 0};
inline constexpr Reg regIH_RB_WPTR_ADDR_LO{0x0086, 0};
inline constexpr Reg regIH_DOORBELL_RPTR{0x0087, 0};
inline constexpr Reg regIH_RB_CNTL_RING1{0x008c, 0};
inline constexpr Reg regIH_CHICKEN{0x018d, 0};

using IH_RB_CNTL__RB_ENABLE = Field<0, 0>;
using IH_RB_CNTL__RB_SIZE = Field<5, 1>;
using IH_RB_CNTL__WPTR_WRITEBACK_ENABLE = Field<8, 8>;
using IH_RB_CNTL__WPTR_OVERFLOW_ENABLE = Field<16, 16>;
using IH_RB_CNTL__ENABLE_INTR = Field<17, 17>;
using IH_RB_CNTL__MC_SPACE = Field<30, 28>;
using IH_RB_CNTL__WPTR_OVERFLOW_CLEAR = Field<31, 31>;
using IH_RB_WPTR__RB_OVERFLOW = Field<0, 0>;
using IH_DOORBELL_RPTR__OFFSET = Field<25, 0>;
using IH_DOORBELL_RPTR__ENABLE = Field<28, 28>;

}  // namespace gpuemu::osssys_4_4_2
