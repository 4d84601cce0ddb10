// SPDX-License-Identifier: GPL-2.0
// Purpose: the registers of MMHUB 2.0 and 2.1 that the model gives a meaning; numbers and names
// from drivers/gpu/drm/amd/include/asic_reg/mmhub/mmhub_2_0_0_{offset,sh_mask}.h. Fields that are
// not here are those of MMHUB 1.8.0. Thread: constants.
#pragma once

#include <cstdint>

#include "gpu-emu/ip/regs/registers.h"

namespace gpuemu::mmhub_2_0_0 {

inline constexpr Reg mmMMVM_L2_CNTL2{0x0681, 0};
inline constexpr Reg mmMMVM_L2_PROTECTION_FAULT_CNTL{0x0688, 0};
inline constexpr Reg mmMMVM_L2_PROTECTION_FAULT_STATUS{0x068c, 0};
inline constexpr Reg mmMMVM_L2_PROTECTION_FAULT_ADDR_LO32{0x068d, 0};
inline constexpr Reg mmMMVM_CONTEXT0_CNTL{0x06c0, 0};
inline constexpr Reg mmMMVM_INVALIDATE_ENG0_SEM{0x06d1, 0};
inline constexpr Reg mmMMVM_INVALIDATE_ENG0_REQ{0x06e3, 0};
inline constexpr Reg mmMMVM_INVALIDATE_ENG0_ACK{0x06f5, 0};
inline constexpr Reg mmMMVM_CONTEXT0_PAGE_TABLE_BASE_ADDR_LO32{0x072b, 0};
inline constexpr Reg mmMMVM_CONTEXT0_PAGE_TABLE_START_ADDR_LO32{0x074b, 0};
inline constexpr Reg mmMMVM_CONTEXT0_PAGE_TABLE_END_ADDR_LO32{0x076b, 0};
inline constexpr Reg mmMMMC_VM_FB_OFFSET{0x0857, 0};
inline constexpr Reg mmMMMC_VM_FB_LOCATION_BASE{0x086c, 0};
inline constexpr Reg mmMMMC_VM_FB_LOCATION_TOP{0x086d, 0};

// GC 10 has the same.
inline constexpr uint32_t MMVM_INVALIDATE_ENG0_REQ__INVALIDATE_L2_PTES = 1u << 19;
inline constexpr uint32_t MMVM_INVALIDATE_ENG0_REQ__INVALIDATE_L1_PTES = 1u << 23;

}  // namespace gpuemu::mmhub_2_0_0
