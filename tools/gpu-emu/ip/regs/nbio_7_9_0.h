// SPDX-License-Identifier: GPL-2.0
// Purpose: the registers of NBIO 7.9.0 that the model gives a meaning; numbers and names from
// drivers/gpu/drm/amd/include/asic_reg/nbio/nbio_7_9_0_{offset,sh_mask}.h.
// Thread: constants.
#pragma once

#include "gpu-emu/ip/regs/registers.h"

namespace gpuemu::nbio_7_9_0 {

// Windows: VRAM through MM_INDEX/MM_DATA, SMN space through PCIE_INDEX2/PCIE_DATA2.
inline constexpr Reg regBIF_BX_PF0_MM_INDEX{0x0000, 0};
inline constexpr Reg regBIF_BX_PF0_MM_DATA{0x0001, 0};
inline constexpr Reg regBIF_BX_PF0_MM_INDEX_HI{0x0006, 0};
inline constexpr Reg regBIF_BX0_PCIE_INDEX2{0x000e, 0};
inline constexpr Reg regBIF_BX0_PCIE_DATA2{0x000f, 0};
inline constexpr Reg regBIF_BX0_PCIE_INDEX2_HI{0x0011, 0};
using BIF_BX_PF0_MM_INDEX__MM_OFFSET = Field<30, 0>;
using BIF_BX_PF0_MM_INDEX__MM_APER = Field<31, 31>;

// Identity and straps.
inline constexpr Reg regRCC_STRAP0_RCC_DEV0_EPF0_STRAP0{0x0016, 2};
using RCC_STRAP0_RCC_DEV0_EPF0_STRAP0__STRAP_ATI_REV_ID_DEV0_F0 = Field<27, 24>;
inline constexpr Reg regRCC_DEV0_EPF0_RCC_CONFIG_MEMSIZE{0x00c3, 2};
inline constexpr Reg regRCC_DEV0_EPF0_RCC_IOV_FUNC_IDENTIFIER{0x00c5, 2};
using RCC_IOV_FUNC_IDENTIFIER__FUNC_IDENTIFIER = Field<0, 0>;

// RAS events that the driver polls for at each interrupt.
inline constexpr Reg regBIF_BX0_BIF_DOORBELL_INT_CNTL{0x00fe, 2};
using BIF_DOORBELL_INT_CNTL__RAS_CNTLR_INTERRUPT_STATUS = Field<1, 1>;
using BIF_DOORBELL_INT_CNTL__RAS_ATHUB_ERR_EVENT_INTERRUPT_STATUS = Field<2, 2>;
using BIF_DOORBELL_INT_CNTL__RAS_CNTLR_INTERRUPT_CLEAR = Field<17, 17>;
using BIF_DOORBELL_INT_CNTL__RAS_ATHUB_ERR_EVENT_INTERRUPT_CLEAR = Field<18, 18>;

// Host data path flush.
inline constexpr Reg regBIF_BX_PF0_GPU_HDP_FLUSH_REQ{0x0106, 2};
inline constexpr Reg regBIF_BX_PF0_GPU_HDP_FLUSH_DONE{0x0107, 2};

// Configuration that is storage here, named for traces.
inline constexpr Reg regBIF_BX0_INTERRUPT_CNTL{0x00f1, 2};
inline constexpr Reg regBIF_BX0_INTERRUPT_CNTL2{0x00f2, 2};
inline constexpr Reg regBIF_BX0_BIF_FB_EN{0x0100, 2};
inline constexpr Reg regBIF_BX0_BACO_CNTL{0x010b, 2};
inline constexpr Reg regBIF_BX0_REMAP_HDP_MEM_FLUSH_CNTL{0x012d, 2};
inline constexpr Reg regRCC_DEV0_EPF0_RCC_DOORBELL_APER_EN{0x00c0, 2};
using RCC_DOORBELL_APER_EN__BIF_DOORBELL_APER_EN = Field<0, 0>;

// Doorbells of a block, in dwords of a page. In SMN space.
inline constexpr Reg regDOORBELL0_CTRL_ENTRY_0{0xcd00, 8};
using DOORBELL0_CTRL_ENTRY__BIF_DOORBELL0_RANGE_OFFSET_ENTRY = Field<9, 0>;
using DOORBELL0_CTRL_ENTRY__BIF_DOORBELL0_RANGE_SIZE_ENTRY = Field<14, 10>;

// Partitions.
inline constexpr Reg regBIF_BX_PF0_PARTITION_COMPUTE_CAP{0x0161, 2};
inline constexpr Reg regBIF_BX_PF0_PARTITION_MEM_CAP{0x0162, 2};
inline constexpr Reg regBIF_BX_PF0_PARTITION_COMPUTE_STATUS{0x0163, 2};
inline constexpr Reg regBIF_BX_PF0_PARTITION_MEM_STATUS{0x0164, 2};
using PARTITION_COMPUTE_STATUS__PARTITION_MODE = Field<7, 4>;
using PARTITION_MEM_STATUS__NPS_MODE = Field<11, 4>;

// Mailbox of a virtual function (drivers/gpu/drm/amd/amdgpu/mxgpu_nv.h): TRN goes to the host.
inline constexpr Reg mmMAILBOX_MSGBUF_TRN_DW0{0x0136, 2};
inline constexpr Reg mmMAILBOX_MSGBUF_RCV_DW0{0x013a, 2};
inline constexpr Reg mmMAILBOX_CONTROL{0x013e, 2};
inline constexpr Reg mmMAILBOX_INT_CNTL{0x013f, 2};
using MAILBOX_CONTROL__TRN_MSG_VALID = Field<0, 0>;
using MAILBOX_CONTROL__TRN_MSG_ACK = Field<1, 1>;
using MAILBOX_CONTROL__RCV_MSG_VALID = Field<8, 8>;
using MAILBOX_CONTROL__RCV_MSG_ACK = Field<9, 9>;
using MAILBOX_INT_CNTL__VALID_INT_EN = Field<0, 0>;

}  // namespace gpuemu::nbio_7_9_0
