// SPDX-License-Identifier: GPL-2.0
// Purpose: the registers of NBIO 2.3 and 3.3 that are not where NBIO 7.9.0 has them; numbers and
// names from drivers/gpu/drm/amd/include/asic_reg/nbio/nbio_2_3_{offset,sh_mask}.h.
// Thread: constants.
#pragma once

#include "gpu-emu/ip/regs/registers.h"

namespace gpuemu::nbio_2_3 {

inline constexpr Reg mmRCC_DEV0_EPF0_STRAP0{0x0011, 2};

// Doorbells of a block, in dwords of a page. Those of SDMA 2 and 3, and of the second VCN instance
// are in nbio_v2_3.c.
inline constexpr Reg mmBIF_SDMA0_DOORBELL_RANGE{0x01d0, 2};
inline constexpr Reg mmBIF_SDMA1_DOORBELL_RANGE{0x01d1, 2};
inline constexpr Reg mmBIF_SDMA2_DOORBELL_RANGE{0x01d6, 2};
inline constexpr Reg mmBIF_SDMA3_DOORBELL_RANGE{0x01d7, 2};
inline constexpr Reg mmBIF_IH_DOORBELL_RANGE{0x01d2, 2};
inline constexpr Reg mmBIF_MMSCH0_DOORBELL_RANGE{0x01d3, 2};
inline constexpr Reg mmBIF_MMSCH1_DOORBELL_RANGE{0x01d8, 2};
using BIF_DOORBELL_RANGE__OFFSET = Field<11, 2>;
using BIF_DOORBELL_RANGE__SIZE = Field<20, 16>;

// What the video BIOS leaves for the driver (ATOM_S7 of include/atombios.h). NBIO 7.9.0 has them
// there, too.
inline constexpr Reg mmBIOS_SCRATCH_0{0x0038, 1};
inline constexpr Reg mmBIOS_SCRATCH_7{0x003f, 1};
using ATOM_S7_ASIC_INIT_COMPLETE = Field<9, 9>;

}  // namespace gpuemu::nbio_2_3
