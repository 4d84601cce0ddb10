// SPDX-License-Identifier: GPL-2.0
// Purpose: the registers of MMHUB 1.8.0 that the model gives a meaning; numbers and names from
// drivers/gpu/drm/amd/include/asic_reg/mmhub/mmhub_1_8_0_{offset,sh_mask}.h.
// Thread: constants.
#pragma once

#include <cstdint>

#include "gpu-emu/ip/regs/registers.h"

namespace gpuemu::mmhub_1_8_0 {

// Contexts 0 to 15 follow each other: CNTL by one dword, addresses by two. 18 invalidation engines.
inline constexpr Reg regVM_L2_CNTL2{0x0b61, 0};
inline constexpr Reg regVM_L2_PROTECTION_FAULT_CNTL{0x0b67, 0};
inline constexpr Reg regVM_L2_PROTECTION_FAULT_STATUS{0x0b6b, 0};
inline constexpr Reg regVM_L2_PROTECTION_FAULT_ADDR_LO32{0x0b6c, 0};
inline constexpr Reg regVM_CONTEXT0_CNTL{0x0ba0, 0};
inline constexpr Reg regVM_INVALIDATE_ENG0_SEM{0x0bb1, 0};
inline constexpr Reg regVM_INVALIDATE_ENG0_REQ{0x0bc3, 0};
inline constexpr Reg regVM_INVALIDATE_ENG0_ACK{0x0bd5, 0};
inline constexpr Reg regVM_CONTEXT0_PAGE_TABLE_BASE_ADDR_LO32{0x0c0b, 0};
inline constexpr Reg regVM_CONTEXT0_PAGE_TABLE_START_ADDR_LO32{0x0c2b, 0};
inline constexpr Reg regVM_CONTEXT0_PAGE_TABLE_END_ADDR_LO32{0x0c4b, 0};
inline constexpr Reg regMC_VM_FB_OFFSET{0x0c87, 0};
inline constexpr Reg regMC_VM_XGMI_LFB_CNTL{0x0c97, 0};
inline constexpr Reg regMC_VM_XGMI_LFB_SIZE{0x0c98, 0};
inline constexpr Reg regMC_VM_FB_LOCATION_BASE{0x0c9c, 0};
inline constexpr Reg regMC_VM_FB_LOCATION_TOP{0x0c9d, 0};

// The fields are those of both hubs (GC 9.4.3 has the same layout).
using VM_L2_CNTL2__INVALIDATE_ALL_L1_TLBS = Field<0, 0>;
using VM_L2_CNTL2__INVALIDATE_L2_CACHE = Field<1, 1>;
using VM_INVALIDATE_ENG0_REQ__PER_VMID_INVALIDATE_REQ = Field<15, 0>;
using VM_INVALIDATE_ENG0_ACK__PER_VMID_INVALIDATE_ACK = Field<15, 0>;
using VM_L2_PROTECTION_FAULT_CNTL__CLEAR_PROTECTION_FAULT_STATUS_ADDR = Field<0, 0>;
using VM_L2_PROTECTION_FAULT_STATUS__MORE_FAULTS = Field<0, 0>;
using VM_L2_PROTECTION_FAULT_STATUS__WALKER_ERROR = Field<3, 1>;
using VM_L2_PROTECTION_FAULT_STATUS__PERMISSION_FAULTS = Field<7, 4>;
using VM_L2_PROTECTION_FAULT_STATUS__MAPPING_ERROR = Field<8, 8>;
using VM_L2_PROTECTION_FAULT_STATUS__CID = Field<17, 9>;
using VM_L2_PROTECTION_FAULT_STATUS__RW = Field<18, 18>;
using VM_L2_PROTECTION_FAULT_STATUS__VMID = Field<23, 20>;
// MMHUB 2 and GC 10 have these two one bit higher.
inline constexpr uint32_t VM_INVALIDATE_ENG0_REQ__INVALIDATE_L2_PTES = 1u << 18;
inline constexpr uint32_t VM_INVALIDATE_ENG0_REQ__INVALIDATE_L1_PTES = 1u << 22;
using VM_CONTEXT0_CNTL__RANGE_PROTECTION_FAULT_ENABLE_INTERRUPT = Field<9, 9>;
using VM_CONTEXT0_CNTL__DUMMY_PAGE_PROTECTION_FAULT_ENABLE_INTERRUPT = Field<11, 11>;
using VM_CONTEXT0_CNTL__VALID_PROTECTION_FAULT_ENABLE_INTERRUPT = Field<15, 15>;
using VM_CONTEXT0_CNTL__WRITE_PROTECTION_FAULT_ENABLE_INTERRUPT = Field<19, 19>;
using MC_VM_XGMI_LFB_CNTL__PF_LFB_REGION = Field<3, 0>;
using MC_VM_XGMI_LFB_CNTL__PF_MAX_REGION = Field<7, 4>;
using MC_VM_XGMI_LFB_SIZE__PF_LFB_SIZE = Field<16, 0>;

}  // namespace gpuemu::mmhub_1_8_0
