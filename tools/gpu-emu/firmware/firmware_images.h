// SPDX-License-Identifier: GPL-2.0
// Purpose: firmware files for the guest of an emulated GPU: headers as amdgpu_ucode.h defines them,
// in front of a pattern. The emulated PSP takes any payload, so nothing of a vendor is needed.
// Thread: any; pure.
// Does not model: firmware. On real hardware these files do nothing.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lib/result.h"

namespace gpuemu {

struct FirmwareFile {
    std::string name;
    std::vector<std::byte> bytes;
};

/// The files that the driver loads for gfx 9.4.3 with PSP and SMU 13.0.6, for gfx 9.5.0 with PSP
/// 13.0.12 (whose SMU wants none), and for gfx 10.3.0 with PSP and SMU 11.0.7.
std::vector<FirmwareFile> build_firmware_images();

/// Makes `directory` if it is not there and writes all of them, replacing what has their names.
hp::Result<void> write_firmware_images(const std::string& directory);

}  // namespace gpuemu
