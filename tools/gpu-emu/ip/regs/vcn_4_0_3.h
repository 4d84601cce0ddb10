// SPDX-License-Identifier: GPL-2.0
// Purpose: the registers of VCN 4.0.3 that the model gives a meaning, and the fields that all
// VCN versions have; numbers and names from
// drivers/gpu/drm/amd/include/asic_reg/vcn/vcn_4_0_3_offset.h and _sh_mask.h.
// Thread: constants.
#pragma once

#include "gpu-emu/ip/regs/registers.h"

namespace gpuemu::vcn_4_0_3 {

inline constexpr Reg regUVD_PGFSM_CONFIG{0x0000, 1};
inline constexpr Reg regUVD_PGFSM_STATUS{0x0001, 1};
inline constexpr Reg regUVD_POWER_STATUS{0x0002, 1};
inline constexpr Reg regUVD_DPG_LMA_CTL{0x0011, 1};
inline constexpr Reg regUVD_DPG_LMA_DATA{0x0012, 1};
inline constexpr Reg regUVD_DPG_PAUSE{0x0014, 1};
inline constexpr Reg regVCN_JPEG_DB_CTRL{0x0071, 1};
inline constexpr Reg regVCN_RB1_DB_CTRL{0x0072, 1};
inline constexpr Reg regVCN_RB_ENABLE{0x0085, 1};
inline constexpr Reg regUVD_RB_RPTR{0x00ac, 1};
inline constexpr Reg regUVD_RB_WPTR{0x00ad, 1};
inline constexpr Reg regUVD_RB_BASE_LO{0x00ea, 1};
inline constexpr Reg regUVD_RB_SIZE{0x00ec, 1};
inline constexpr Reg regUVD_STATUS{0x0143, 1};
inline constexpr Reg regUVD_VCPU_CNTL{0x0196, 1};
inline constexpr Reg regUVD_LMI_VCPU_NC0_64BIT_BAR_LOW{0x0240, 1};
inline constexpr Reg regUVD_LMI_STATUS{0x02b1, 1};
inline constexpr Reg regMMSCH_VF_CTX_ADDR_LO{0x054c, 1};
inline constexpr Reg regMMSCH_VF_CTX_SIZE{0x054e, 1};
inline constexpr Reg regMMSCH_VF_MAILBOX_HOST{0x0552, 1};
inline constexpr Reg regMMSCH_VF_MAILBOX_RESP{0x0553, 1};
inline constexpr Reg regUVD_JRBC0_UVD_JRBC_RB_WPTR{0x0640, 1};
inline constexpr Reg regUVD_JMI_CNTL{0x06ce, 1};
inline constexpr Reg regJPEG_CORE_RST_CTRL{0x072e, 1};
inline constexpr Reg regVCN_RRMT_CNTL{0x0940, 1};

using PGFSM_FIELD = Field<1, 0>;  // of UVD_PGFSM_CONFIG and _STATUS: one for each of 16 tiles
inline constexpr uint32_t pgfsm_tiles = 16;
inline constexpr uint32_t pgfsm_power_off = 2;  // in both
using UVD_POWER_STATUS__UVD_POWER_STATUS = Field<1, 0>;
using UVD_POWER_STATUS__UVD_PG_MODE = Field<2, 2>;
using UVD_POWER_STATUS__STALL_DPG_POWER_UP = Field<31, 31>;
using UVD_DPG_LMA_CTL__READ_WRITE = Field<0, 0>;
using UVD_DPG_PAUSE__NJ_PAUSE_DPG_REQ = Field<2, 2>;
using UVD_DPG_PAUSE__NJ_PAUSE_DPG_ACK = Field<3, 3>;
using UVD_STATUS__RBC_BUSY = Field<0, 0>;
using UVD_STATUS__VCPU_RUNS = Field<1, 1>;  // the lowest bit of VCPU_REPORT
using UVD_VCPU_CNTL__CLK_EN = Field<9, 9>;
using UVD_VCPU_CNTL__BLK_RST = Field<28, 28>;
using UVD_RBC_RB_CNTL__RB_BUFSZ = Field<4, 0>;
// UVD_LMI_STATUS of a block whose reads and writes have all arrived: all _CLEAN and _IDLE bits.
inline constexpr uint32_t UVD_LMI_STATUS_clean = 0x00003f7f;
using UVD_JRBC_RB_CNTL__RB_NO_FETCH = Field<0, 0>;
using UVD_JRBC_STATUS__RB_JOB_DONE = Field<0, 0>;
using UVD_JRBC_STATUS__IB_JOB_DONE = Field<1, 1>;
using UVD_JMI_CNTL__SOFT_RESET = Field<0, 0>;
// VCN_RB1_DB_CTRL, VCN_JPEG_DB_CTRL: in dwords of the doorbell BAR.
using VCN_DB_CTRL__OFFSET = Field<27, 2>;
using VCN_DB_CTRL__EN = Field<30, 30>;
using VCN_RB_ENABLE__RB_EN = Field<0, 0>;
using VCN_RB_ENABLE__RB1_EN = Field<2, 2>;  // VCN 5

}  // namespace gpuemu::vcn_4_0_3
