// SPDX-License-Identifier: GPL-2.0
// Purpose: video BIOS images (ATOM tables, no code): what a host leaves at the start of the VRAM of
// a virtual function, together with the PF2VF block of the data exchange region, and what is in the
// ROM of a board.
// Thread: any; pure.
// Does not model: ATOM command tables (that of ASIC_Init ends at once), bad pages, RAS telemetry,
// layout v2.
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

/// The image in the ROM of a board, a PCI expansion ROM (PCI Firmware Specification 3.0, 5.2) whose
/// code returns at once. It says what memory there is; that of a board with SMU 11.0.7 has the
/// power play table, the board's part of the SMU's table, and what is said of clocks besides.
std::vector<std::byte> build_video_bios(const Profile& profile);

/// Makes the checksum right again after the PF2VF block was changed: a host that lies can add up,
/// too.
void seal_pf2vf(std::span<std::byte> block);

/// struct amd_sriov_msg_pf2vf_info with its checksum.
std::vector<std::byte> build_pf2vf(const Profile& profile);

}  // namespace gpuemu
