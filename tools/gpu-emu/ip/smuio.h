// SPDX-License-Identifier: GPL-2.0
// Purpose: SMUIO 11.0: the ROM with the video BIOS, read a dword at a time behind an index that
// counts up, and the golden time stamp counter.
// Thread: device loop only.
// Does not model: writing the ROM, its clock gating.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "gpu-emu/device/register_file.h"
#include "gpu-emu/ip/ip_block.h"
#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

class Smuio : public IpBlock {
public:
    /// Claims its registers. What is read behind the end of `rom` is all ones, as erased flash is.
    Smuio(const Profile& profile, RegisterFile& registers, std::vector<std::byte> rom,
          std::function<uint64_t()> gpu_clock);

    void reset(ResetKind kind) override;

private:
    uint32_t read_rom();

    const IpInstance& ip_;
    RegisterFile& registers_;
    std::vector<std::byte> rom_;
    std::function<uint64_t()> gpu_clock_;
};

}  // namespace gpuemu
