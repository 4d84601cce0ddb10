// SPDX-License-Identifier: GPL-2.0
// Purpose: what a host leaves at the start of the VRAM of a virtual function: a video BIOS image
// (ATOM tables, no code) and the PF2VF block of the data exchange region.
// Thread: any; pure.
// Does not model: ATOM command tables, bad pages, RAS telemetry, layout v2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

/// Places of layout v1 (amdgv_sriovmsg.h).
inline constexpr uint64_t vf_vbios_offset = 0;
inline constexpr uint64_t vf_vbios_bytes = 64 * 1024;
inline constexpr uint64_t vf_pf2vf_offset = 64 * 1024;

/// The ATOM image, vf_vbios_bytes long.
std::vector<std::byte> build_atom_image();

/// Makes the checksum right again after the PF2VF block was changed: a host that lies can add up,
/// too.
void seal_pf2vf(std::span<std::byte> block);

/// struct amd_sriov_msg_pf2vf_info with its checksum.
std::vector<std::byte> build_pf2vf(const Profile& profile);

}  // namespace gpuemu
