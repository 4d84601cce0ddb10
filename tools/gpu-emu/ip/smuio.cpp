// SPDX-License-Identifier: GPL-2.0
// Purpose: the SMUIO registers, as smuio_v11_0.c, amdgpu_bios.c and gfx_v10_0.c use them.
// Thread: device loop only.
#include "gpu-emu/ip/smuio.h"

#include <cstring>
#include <utility>

#include "gpu-emu/ip/regs/registers.h"
#include "gpu-emu/ip/regs/smuio_11_0_0.h"

namespace gpuemu {

namespace smuio = smuio_11_0_0;

Smuio::Smuio(const Profile& profile, RegisterFile& registers, std::vector<std::byte> rom,
             std::function<uint64_t()> gpu_clock)
    : ip_(profile.ip(HwId::SMUIO)),
      registers_(registers),
      rom_(std::move(rom)),
      gpu_clock_(std::move(gpu_clock)) {
    registers_.declare(at(ip_, smuio::mmROM_DATA), 1,
                       {.read = [this](uint32_t) { return read_rom(); }});
    const auto declare_clock = [this](Reg reg, unsigned shift) {
        registers_.declare(at(ip_, reg), 1,
                           {.type = read_only, .read = [this, shift](uint32_t) {
                                return static_cast<uint32_t>(gpu_clock_() >> shift);
                            }});
    };
    declare_clock(smuio::mmGOLDEN_TSC_COUNT_LOWER, 0);
    declare_clock(smuio::mmGOLDEN_TSC_COUNT_UPPER, 32);
}

void Smuio::reset(ResetKind) {
    registers_.raw(at(ip_, smuio::mmROM_INDEX)) = 0;
}

uint32_t Smuio::read_rom() {
    uint32_t& index = registers_.raw(at(ip_, smuio::mmROM_INDEX));
    const uint64_t offset = index & ~3u;
    uint32_t value = ~0u;
    if (offset + sizeof value <= rom_.size()) {
        std::memcpy(&value, rom_.data() + offset, sizeof value);
    }
    index += sizeof value;
    return value;
}

}  // namespace gpuemu
