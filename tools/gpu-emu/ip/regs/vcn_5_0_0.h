// SPDX-License-Identifier: GPL-2.0
// Purpose: the registers of VCN 5.0 that the model gives a meaning; numbers and names from
// drivers/gpu/drm/amd/include/asic_reg/vcn/vcn_5_0_0_offset.h and jpeg_v5_0_1.h. Their fields are
// those of VCN 4.0.3, and what is not here is at the same places.
// Thread: constants.
#pragma once

#include "gpu-emu/ip/regs/registers.h"

namespace gpuemu::vcn_5_0_0 {

inline constexpr Reg regVCN_JPEG_DB_CTRL{0x0068, 1};
inline constexpr Reg regUVD_RB_BASE_LO{0x012a, 1};
inline constexpr Reg regUVD_RB_SIZE{0x012c, 1};
inline constexpr Reg regUVD_STATUS{0x0183, 1};
inline constexpr Reg regUVD_VCPU_CNTL{0x01d6, 1};
inline constexpr Reg regUVD_LMI_STATUS{0x0331, 1};

}  // namespace gpuemu::vcn_5_0_0
