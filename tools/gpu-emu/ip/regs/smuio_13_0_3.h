// SPDX-License-Identifier: GPL-2.0
// Purpose: the registers of SMUIO 13.0.3 that the model gives a meaning; numbers and names from
// drivers/gpu/drm/amd/include/asic_reg/smuio/smuio_13_0_3_{offset,sh_mask}.h.
// Thread: constants.
#pragma once

#include "gpu-emu/ip/regs/registers.h"

namespace gpuemu::smuio_13_0_3 {

inline constexpr Reg regSMUIO_MCM_CONFIG{0x0023, 1};

using SMUIO_MCM_CONFIG__SOCKET_ID = Field<11, 8>;

}  // namespace gpuemu::smuio_13_0_3
