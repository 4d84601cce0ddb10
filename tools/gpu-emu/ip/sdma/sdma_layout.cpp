// SPDX-License-Identifier: GPL-2.0
// Purpose: see sdma_layout.h.
// Thread: values.
#include "gpu-emu/ip/sdma/sdma_layout.h"

#include <algorithm>

#include "gpu-emu/ip/registers.h"
#include "gpu-emu/ip/regs/gc_10_3_0.h"

namespace gpuemu {
namespace {

// soc15_ih_clientid.h. SDMA2 and 3 have the ids of blocks that their ASIC does not have.
constexpr uint8_t SOC15_IH_CLIENTID_SDMA0 = 0x08;  // further instances follow
constexpr uint8_t SOC15_IH_CLIENTID_SDMA1 = 0x09;
constexpr uint8_t SOC15_IH_CLIENTID_SDMA2 = 0x01;
constexpr uint8_t SOC15_IH_CLIENTID_SDMA3_Sienna_Cichlid = 0x05;

}  // namespace

std::vector<SdmaLayout> sdma_layouts(const Profile& profile) {
    std::vector<SdmaLayout> layouts;
    if (profile.ip(HwId::SDMA0).major != 5) {
        const auto count = std::ranges::count(profile.ips, HwId::SDMA0, &IpInstance::hw_id);
        for (uint8_t instance = 0; instance < count; ++instance) {
            layouts.push_back({at(profile.ip(HwId::SDMA0, instance), Reg{0, 0}), Hub::mm,
                               static_cast<uint8_t>(SOC15_IH_CLIENTID_SDMA0 + instance)});
        }
        return layouts;
    }
    namespace gc = gc_10_3_0;
    struct Instance {
        HwId hw_id;
        Reg start;
        uint8_t ih_client;
    };
    for (const Instance& instance :
         {Instance{HwId::SDMA0, gc::mmSDMA0_DEC_START, SOC15_IH_CLIENTID_SDMA0},
          {HwId::SDMA1, gc::mmSDMA1_DEC_START, SOC15_IH_CLIENTID_SDMA1},
          {HwId::SDMA2, gc::mmSDMA2_DEC_START, SOC15_IH_CLIENTID_SDMA2},
          {HwId::SDMA3, gc::mmSDMA3_DEC_START, SOC15_IH_CLIENTID_SDMA3_Sienna_Cichlid}}) {
        layouts.push_back(
            {at(profile.ip(instance.hw_id), instance.start), Hub::gfx, instance.ih_client});
    }
    return layouts;
}

}  // namespace gpuemu
