// SPDX-License-Identifier: GPL-2.0
// Purpose: the registers of SMUIO 11.0 that the model gives a meaning; numbers and names from
// drivers/gpu/drm/amd/include/asic_reg/smuio/smuio_11_0_0_offset.h. Thread: constants.
#pragma once

#include "gpu-emu/ip/regs/registers.h"

namespace gpuemu::smuio_11_0_0 {

inline constexpr Reg mmROM_INDEX{0x00e4, 0};
inline constexpr Reg mmROM_DATA{0x00e5, 0};
inline constexpr Reg mmGOLDEN_TSC_COUNT_UPPER{0x0102, 1};
inline constexpr Reg mmGOLDEN_TSC_COUNT_LOWER{0x0103, 1};

}  // namespace gpuemu::smuio_11_0_0
