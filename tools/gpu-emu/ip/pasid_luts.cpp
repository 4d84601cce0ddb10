// SPDX-License-Identifier: GPL-2.0
// Thread: device loop only.
#include "gpu-emu/ip/pasid_luts.h"

#include <utility>

#include "gpu-emu/ip/regs/osssys_4_4_2.h"

namespace gpuemu {

namespace oss = osssys_4_4_2;

std::optional<Reg> PasidLuts::index(const IpInstance& osssys) {
    // OSSSYS 5 has IH_VF_RB1_STATUS3 at that place.
    return osssys.major == 5 ? std::nullopt : std::optional(oss::regIH_VMID_LUT_INDEX);
}

uint16_t PasidLuts::read(uint8_t node, Reg lut, unsigned vmid) {
    const uint32_t before = choose(node);
    const uint32_t entry = registers_.read(at(osssys_, lut) + vmid);
    choose(before);
    return static_cast<uint16_t>(oss::IH_VMID_LUT__PASID::get(entry));
}

void PasidLuts::write(uint8_t node, Reg lut, unsigned vmid, uint16_t pasid) {
    const uint32_t before = choose(node);
    registers_.write(at(osssys_, lut) + vmid, pasid);
    choose(before);
}

uint32_t PasidLuts::choose(uint32_t node) {
    const auto reg = index(osssys_);
    return reg ? std::exchange(registers_.raw(at(osssys_, *reg)), node) : 0;
}

}  // namespace gpuemu
