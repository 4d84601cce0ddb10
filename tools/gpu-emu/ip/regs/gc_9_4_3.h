// SPDX-License-Identifier: GPL-2.0
// Purpose: the registers of GC 9.4.3 that the model gives a meaning; numbers and names
// from drivers/gpu/drm/amd/include/asic_reg/gc/gc_9_4_3_{offset,sh_mask}.h. Thread: constants.
#pragma once

#include <cstdint>

#include "gpu-emu/ip/regs/registers.h"

namespace gpuemu::gc_9_4_3 {

// GRBM: which pipe and queue the HQD window shows.
inline constexpr Reg regGRBM_STATUS2{0x0002, 0};
inline constexpr Reg regGRBM_STATUS{0x0004, 0};
inline constexpr Reg regGRBM_GFX_CNTL{0x0022, 0};
using GRBM_GFX_CNTL__PIPEID = Field<1, 0>;
using GRBM_GFX_CNTL__MEID = Field<3, 2>;
using GRBM_GFX_CNTL__QUEUEID = Field<10, 8>;

inline constexpr Reg regCC_GC_SHADER_ARRAY_CONFIG{0x026f, 0};
inline constexpr Reg regGC_USER_SHADER_ARRAY_CONFIG{0x0270, 0};

// Command processor.
inline constexpr Reg regCP_MEC_DOORBELL_RANGE_LOWER{0x105c, 0};
inline constexpr Reg regCP_MEC_DOORBELL_RANGE_UPPER{0x105d, 0};
using CP_MEC_DOORBELL_RANGE__DOORBELL_RANGE = Field<27, 2>;
inline constexpr Reg regCP_MEC_CNTL{0x008d, 0};
inline constexpr unsigned CP_MEC_CNTL__MEC_ME1_PIPE0_RESET__SHIFT = 16;  // four pipes
inline constexpr unsigned CP_MEC_CNTL__MEC_ME2_PIPE0_RESET__SHIFT = 20;  // two pipes
inline constexpr Reg regCP_PQ_WPTR_POLL_CNTL1{0x1084, 0};
inline constexpr Reg regCPC_INT_STATUS{0x10b5, 0};
using CPC_INT_STATUS__GENERIC2_INT_STATUS = Field<29, 29>;
inline constexpr Reg regCP_HYP_XCP_CTL{0x5828, 1};
using CP_HYP_XCP_CTL__VIRTUAL_XCC_ID = Field<2, 0>;
using CP_HYP_XCP_CTL__NUM_XCC_IN_XCP = Field<6, 3>;

// HQD window, in the order of the MQD: dword 128 + n of a v9_mqd is regCP_MQD_BASE_ADDR + n.
inline constexpr Reg regCP_MQD_BASE_ADDR{0x1245, 0};
inline constexpr Reg regCP_MQD_BASE_ADDR_HI{0x1246, 0};
inline constexpr Reg regCP_HQD_ACTIVE{0x1247, 0};
inline constexpr Reg regCP_HQD_VMID{0x1248, 0};
inline constexpr Reg regCP_HQD_PQ_BASE{0x124d, 0};
inline constexpr Reg regCP_HQD_PQ_BASE_HI{0x124e, 0};
inline constexpr Reg regCP_HQD_PQ_RPTR{0x124f, 0};
inline constexpr Reg regCP_HQD_PQ_RPTR_REPORT_ADDR{0x1250, 0};
inline constexpr Reg regCP_HQD_PQ_RPTR_REPORT_ADDR_HI{0x1251, 0};
inline constexpr Reg regCP_HQD_PQ_WPTR_POLL_ADDR{0x1252, 0};
inline constexpr Reg regCP_HQD_PQ_WPTR_POLL_ADDR_HI{0x1253, 0};
inline constexpr Reg regCP_HQD_PQ_DOORBELL_CONTROL{0x1254, 0};
inline constexpr Reg regCP_HQD_PQ_CONTROL{0x1256, 0};
inline constexpr Reg regCP_HQD_IB_BASE_ADDR{0x1257, 0};
inline constexpr Reg regCP_HQD_IB_BASE_ADDR_HI{0x1258, 0};
inline constexpr Reg regCP_HQD_IB_RPTR{0x1259, 0};
inline constexpr Reg regCP_HQD_IB_CONTROL{0x125a, 0};
inline constexpr Reg regCP_HQD_DEQUEUE_REQUEST{0x125d, 0};
inline constexpr Reg regCP_HQD_AQL_CONTROL{0x127a, 0};
inline constexpr Reg regCP_HQD_PQ_WPTR_LO{0x127b, 0};
inline constexpr Reg regCP_HQD_PQ_WPTR_HI{0x127c, 0};
inline constexpr Reg regCP_HQD_AQL_DISPATCH_ID_HI{0x127f, 0};
using CP_HQD_ACTIVE__ACTIVE = Field<0, 0>;
using CP_HQD_VMID__VMID = Field<3, 0>;
using CP_HQD_PQ_DOORBELL_CONTROL__DOORBELL_OFFSET = Field<27, 2>;
using CP_HQD_PQ_DOORBELL_CONTROL__DOORBELL_EN = Field<30, 30>;
using CP_HQD_PQ_CONTROL__QUEUE_SIZE = Field<5, 0>;
using CP_HQD_PQ_CONTROL__NO_UPDATE_RPTR = Field<27, 27>;
using CP_HQD_IB_CONTROL__IB_SIZE = Field<19, 0>;
using CP_HQD_IB_CONTROL__PROCESSING_IB = Field<31, 31>;
using CP_HQD_DEQUEUE_REQUEST__DEQUEUE_REQ = Field<2, 0>;
using CP_HQD_AQL_CONTROL__CONTROL0 = Field<14, 0>;

// Scratch and RLC.
inline constexpr Reg regSCRATCH_REG0{0x2040, 1};
inline constexpr Reg regSCRATCH_REG1{0x2041, 1};
inline constexpr Reg regSCRATCH_REG2{0x2042, 1};
inline constexpr Reg regSCRATCH_REG3{0x2043, 1};
inline constexpr Reg regRLC_SAFE_MODE{0x4c05, 1};
inline constexpr Reg regRLC_GPU_CLOCK_COUNT_LSB{0x4c24, 1};
inline constexpr Reg regRLC_GPU_CLOCK_COUNT_MSB{0x4c25, 1};
inline constexpr Reg regRLC_CAPTURE_GPU_CLOCK_COUNT{0x4c26, 1};
inline constexpr Reg regRLC_SPARE_INT{0x4ccc, 1};

// GC hub (GCVM). Contexts follow each other: CNTL by one dword, addresses by two.
inline constexpr Reg regVM_L2_CNTL2{0x0821, 0};
inline constexpr Reg regVM_L2_PROTECTION_FAULT_CNTL{0x0827, 0};
inline constexpr Reg regVM_L2_PROTECTION_FAULT_STATUS{0x082b, 0};
inline constexpr Reg regVM_L2_PROTECTION_FAULT_ADDR_LO32{0x082c, 0};
inline constexpr Reg regVM_CONTEXT0_CNTL{0x0860, 0};
inline constexpr Reg regVM_INVALIDATE_ENG0_SEM{0x0871, 0};
inline constexpr Reg regVM_INVALIDATE_ENG0_REQ{0x0883, 0};
inline constexpr Reg regVM_INVALIDATE_ENG0_ACK{0x0895, 0};
inline constexpr Reg regVM_CONTEXT0_PAGE_TABLE_BASE_ADDR_LO32{0x08cb, 0};
inline constexpr Reg regVM_CONTEXT0_PAGE_TABLE_START_ADDR_LO32{0x08eb, 0};
inline constexpr Reg regVM_CONTEXT0_PAGE_TABLE_END_ADDR_LO32{0x090b, 0};
inline constexpr Reg regMC_VM_FB_OFFSET{0x0947, 0};
inline constexpr Reg regMC_VM_XGMI_LFB_CNTL{0x0957, 0};
inline constexpr Reg regMC_VM_XGMI_LFB_SIZE{0x0958, 0};
inline constexpr Reg regMC_VM_FB_LOCATION_BASE{0x095c, 0};
inline constexpr Reg regMC_VM_FB_LOCATION_TOP{0x095d, 0};

}  // namespace gpuemu::gc_9_4_3
