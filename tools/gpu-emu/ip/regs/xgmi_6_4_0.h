// SPDX-License-Identifier: GPL-2.0
// Purpose: the registers of XGMI 6.4.0 that the model gives a meaning; numbers and names from
// xgmi_v6_4_get_link_status() and the top of drivers/gpu/drm/amd/amdgpu/amdgpu_xgmi.c.
// Thread: constants.
#pragma once

#include <array>
#include <cstdint>

namespace gpuemu::xgmi_6_4_0 {

/// SMN addresses of the first AID's ports; the state is in the low byte.
inline constexpr std::array<uint64_t, 2> smn_pcs_state_hist1{0x11a00070, 0x11b00070};

inline constexpr uint32_t XGMI_STATE_DISABLE = 0xd1;
inline constexpr uint32_t XGMI_STATE_LS0 = 0x81;

}  // namespace gpuemu::xgmi_6_4_0
