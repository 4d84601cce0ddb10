// SPDX-License-Identifier: GPL-2.0
// Purpose: the mailboxes of MP0 (PSP) and MP1 (SMU) 13.0.6; numbers and names from
// drivers/gpu/drm/amd/include/asic_reg/mp/mp_13_0_{2,6}_offset.h.
// Thread: constants.
#pragma once

#include <cstdint>

#include "gpu-emu/ip/regs/registers.h"

namespace gpuemu::mp_13_0_6 {

inline constexpr Reg regMP0_SMN_C2PMSG_33{0x0061, 0};  // IFWI done, mailbox ready
inline constexpr Reg regMP0_SMN_C2PMSG_35{0x0063, 0};  // bootloader command and answer
inline constexpr Reg regMP0_SMN_C2PMSG_36{0x0064, 0};  // its argument: address >> 20
inline constexpr Reg regMP0_SMN_C2PMSG_58{0x007a, 0};  // version of sOS
inline constexpr Reg regMP0_SMN_C2PMSG_64{0x0080, 0};  // ring command and answer
inline constexpr Reg regMP0_SMN_C2PMSG_67{0x0083, 0};  // ring write pointer, in dwords
inline constexpr Reg regMP0_SMN_C2PMSG_69{0x0085, 0};  // ring address
inline constexpr Reg regMP0_SMN_C2PMSG_70{0x0086, 0};
inline constexpr Reg regMP0_SMN_C2PMSG_71{0x0087, 0};   // ring size, in bytes
inline constexpr Reg regMP0_SMN_C2PMSG_81{0x0091, 0};   // sign of life of sOS
inline constexpr Reg regMP0_SMN_C2PMSG_101{0x00a5, 0};  // the ring of a virtual function: command
inline constexpr Reg regMP0_SMN_C2PMSG_102{0x00a6, 0};  // address, then write pointer
inline constexpr Reg regMP0_SMN_C2PMSG_103{0x00a7, 0};
inline constexpr Reg regMP0_SMN_C2PMSG_127{0x00bf, 0};  // RAS capabilities

inline constexpr Reg regMP1_SMN_C2PMSG_66{0x0282, 0};  // message
inline constexpr Reg regMP1_SMN_C2PMSG_82{0x0292, 0};  // argument and result
inline constexpr Reg regMP1_SMN_C2PMSG_90{0x029a, 0};  // response

/// SMN byte address of MP1_FIRMWARE_FLAGS (smu_v13_0.c): bit 0, interrupts enabled.
inline constexpr uint64_t smnMP1_FIRMWARE_FLAGS = 0x3b10028;
/// The same of MP1 11.0 (smu_v11_0.c), whose other registers are those of this file.
inline constexpr uint64_t smnMP1_FIRMWARE_FLAGS_11_0 = 0x3b10024;

}  // namespace gpuemu::mp_13_0_6
