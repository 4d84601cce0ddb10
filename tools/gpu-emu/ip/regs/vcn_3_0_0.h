// SPDX-License-Identifier: GPL-2.0
// Purpose: the registers of VCN 3.0 that the model gives a meaning; numbers and names from
// drivers/gpu/drm/amd/include/asic_reg/vcn/vcn_3_0_0_offset.h. The fields of all VCN versions are
// in vcn_4_0_3.h. Thread: constants.
#pragma once

#include "gpu-emu/ip/regs/registers.h"

namespace gpuemu::vcn_3_0_0 {

inline constexpr Reg mmUVD_JRBC_RB_WPTR{0x0100, 0};
inline constexpr Reg mmUVD_JMI_CNTL{0x0192, 0};
inline constexpr Reg mmUVD_PGFSM_CONFIG{0x0000, 1};
inline constexpr Reg mmUVD_PGFSM_STATUS{0x0001, 1};
inline constexpr Reg mmUVD_POWER_STATUS{0x0004, 1};
inline constexpr Reg mmCC_UVD_HARVESTING{0x0007, 1};
inline constexpr Reg mmUVD_DPG_LMA_CTL{0x0011, 1};
inline constexpr Reg mmUVD_DPG_LMA_DATA{0x0012, 1};
inline constexpr Reg mmUVD_DPG_PAUSE{0x0014, 1};
inline constexpr Reg mmUVD_STATUS{0x0080, 1};
inline constexpr Reg mmUVD_GPCOM_VCPU_CMD{0x008f, 1};
inline constexpr Reg mmUVD_GPCOM_VCPU_DATA0{0x0090, 1};
inline constexpr Reg mmUVD_GPCOM_VCPU_DATA1{0x0091, 1};
inline constexpr Reg mmUVD_CONTEXT_ID{0x00a7, 1};
inline constexpr Reg mmUVD_RB_BASE_LO{0x00aa, 1};
inline constexpr Reg mmUVD_RB_SIZE{0x00ac, 1};
inline constexpr Reg mmUVD_RB_RPTR{0x00ad, 1};
inline constexpr Reg mmUVD_RB_WPTR{0x00ae, 1};
inline constexpr Reg mmUVD_RB_BASE_LO2{0x00af, 1};
inline constexpr Reg mmUVD_RB_SIZE2{0x00b1, 1};
inline constexpr Reg mmUVD_RB_RPTR2{0x00b2, 1};
inline constexpr Reg mmUVD_RB_WPTR2{0x00b3, 1};
inline constexpr Reg mmUVD_GP_SCRATCH8{0x00e6, 1};
inline constexpr Reg mmUVD_VCPU_CNTL{0x0156, 1};
inline constexpr Reg mmUVD_RBC_IB_SIZE{0x02dc, 1};
inline constexpr Reg mmUVD_RBC_RB_CNTL{0x02de, 1};
inline constexpr Reg mmUVD_RBC_RB_RPTR{0x02e0, 1};
inline constexpr Reg mmUVD_RBC_RB_WPTR{0x02e1, 1};
inline constexpr Reg mmUVD_LMI_RBC_RB_64BIT_BAR_LOW{0x0432, 1};
inline constexpr Reg mmUVD_LMI_RBC_IB_64BIT_BAR_LOW{0x0434, 1};
inline constexpr Reg mmUVD_LMI_STATUS{0x04a9, 1};
inline constexpr Reg mmUVD_LMI_RBC_RB_VMID{0x04b0, 1};
inline constexpr Reg mmUVD_LMI_RBC_IB_VMID{0x04b1, 1};

}  // namespace gpuemu::vcn_3_0_0
