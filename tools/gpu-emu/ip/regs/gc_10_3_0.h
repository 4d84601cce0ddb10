// SPDX-License-Identifier: GPL-2.0
// Purpose: the registers of GC 10.3.0 that the model gives a meaning; numbers and names from
// drivers/gpu/drm/amd/include/asic_reg/gc/gc_10_3_0_{offset,sh_mask}.h. The fields of those that
// GC 9.4.3 has as well are the same, and so is the order of the HQD window. Thread: constants.
#pragma once

#include <cstdint>

#include "gpu-emu/ip/regs/registers.h"

namespace gpuemu::gc_10_3_0 {

inline constexpr Reg mmGRBM_STATUS2{0x0da2, 0};
inline constexpr Reg mmGRBM_STATUS{0x0da4, 0};
inline constexpr Reg mmGRBM_GFX_CNTL{0x0dc2, 0};

inline constexpr Reg mmCC_GC_SA_UNIT_DISABLE{0x0fe9, 0};
inline constexpr Reg mmCC_GC_SHADER_ARRAY_CONFIG{0x100f, 0};
inline constexpr Reg mmGC_USER_SHADER_ARRAY_CONFIG{0x1010, 0};

// Command processor.
inline constexpr Reg mmCP_STAT{0x0f40, 0};
inline constexpr Reg mmCP_MEC_DOORBELL_RANGE_LOWER{0x1dfc, 0};
inline constexpr Reg mmCP_MEC_DOORBELL_RANGE_UPPER{0x1dfd, 0};
using CP_MEC_DOORBELL_RANGE__DOORBELL_RANGE = Field<27, 2>;
inline constexpr Reg mmCP_MEC_CNTL{0x0f55, 0};
inline constexpr Reg mmCP_ME_CNTL{0x0f56, 0};
inline constexpr Reg mmCP_PQ_WPTR_POLL_CNTL1{0x1e24, 0};
inline constexpr Reg mmCPC_INT_STATUS{0x1e55, 0};
inline constexpr Reg mmCP_VMID_RESET{0x1e53, 0};
using CP_VMID_RESET__PIPE0_QUEUES = Field<23, 16>;
using CP_VMID_RESET__PIPE1_QUEUES = Field<31, 24>;
inline constexpr Reg mmCP_GFX_HQD_ACTIVE{0x1e80, 0};
inline constexpr Reg mmCP_MQD_BASE_ADDR{0x1fa9, 0};

// Scratch and RLC.
inline constexpr Reg mmSCRATCH_REG0{0x2040, 1};
inline constexpr Reg mmRLC_CNTL{0x4c00, 1};
using RLC_CNTL__RLC_ENABLE_F32 = Field<0, 0>;
inline constexpr Reg mmRLC_GPU_CLOCK_COUNT_LSB{0x4c24, 1};
inline constexpr Reg mmRLC_GPU_CLOCK_COUNT_MSB{0x4c25, 1};
inline constexpr Reg mmRLC_CAPTURE_GPU_CLOCK_COUNT{0x4c26, 1};
inline constexpr Reg mmRLC_SAFE_MODE{0x4ca0, 1};
inline constexpr Reg mmRLC_RLCS_BOOTLOAD_STATUS{0x4e8d, 1};
using RLC_RLCS_BOOTLOAD_STATUS__BOOTLOAD_COMPLETE = Field<31, 31>;

// GC hub (GCVM). Contexts follow each other: CNTL by one dword, addresses by two.
inline constexpr Reg mmGCVM_L2_CNTL2{0x15bd, 0};
inline constexpr Reg mmGCVM_L2_PROTECTION_FAULT_CNTL{0x15c4, 0};
inline constexpr Reg mmGCVM_L2_PROTECTION_FAULT_STATUS{0x15c8, 0};
inline constexpr Reg mmGCVM_L2_PROTECTION_FAULT_ADDR_LO32{0x15c9, 0};
inline constexpr Reg mmGCVM_CONTEXT0_CNTL{0x15fc, 0};
inline constexpr Reg mmGCVM_INVALIDATE_ENG0_SEM{0x160d, 0};
inline constexpr Reg mmGCVM_INVALIDATE_ENG0_REQ{0x161f, 0};
inline constexpr Reg mmGCVM_INVALIDATE_ENG0_ACK{0x1631, 0};
inline constexpr Reg mmGCVM_CONTEXT0_PAGE_TABLE_BASE_ADDR_LO32{0x1667, 0};
inline constexpr Reg mmGCVM_CONTEXT0_PAGE_TABLE_START_ADDR_LO32{0x1687, 0};
inline constexpr Reg mmGCVM_CONTEXT0_PAGE_TABLE_END_ADDR_LO32{0x16a7, 0};
inline constexpr Reg mmGCMC_VM_FB_OFFSET{0x16e7, 0};
inline constexpr Reg mmGCMC_VM_FB_LOCATION_BASE{0x16fc, 0};
inline constexpr Reg mmGCMC_VM_FB_LOCATION_TOP{0x16fd, 0};

// The SDMA engines have their registers in GC's segments, at the same places from here on.
inline constexpr Reg mmSDMA0_DEC_START{0x0000, 0};
inline constexpr Reg mmSDMA1_DEC_START{0x0600, 0};
inline constexpr Reg mmSDMA2_DEC_START{0x0000, 2};
inline constexpr Reg mmSDMA3_DEC_START{0x0400, 2};

}  // namespace gpuemu::gc_10_3_0
