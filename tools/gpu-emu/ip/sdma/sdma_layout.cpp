// SPDX-License-Identifier: GPL-2.0
// Thread: values.
#include "gpu-emu/ip/sdma/sdma_layout.h"

#include <iterator>

#include "gpu-emu/ip/gc_layout.h"
#include "gpu-emu/ip/regs/gc_10_3_0.h"
#include "gpu-emu/ip/regs/registers.h"

namespace gpuemu {
namespace {

// soc15_ih_clientid.h. SDMA2 and 3 have the ids of blocks that their ASIC does not have.
constexpr uint8_t SOC15_IH_CLIENTID_SDMA0 = 0x08;
constexpr uint8_t SOC15_IH_CLIENTID_SDMA1 = 0x09;
constexpr uint8_t SOC15_IH_CLIENTID_SDMA2 = 0x01;
constexpr uint8_t SOC15_IH_CLIENTID_SDMA3 = 0x04;
constexpr uint8_t SOC15_IH_CLIENTID_SDMA3_Sienna_Cichlid = 0x05;

}  // namespace

std::vector<SdmaLayout> sdma_layouts(const Profile& profile) {
    std::vector<SdmaLayout> layouts;
    if (profile.ip(HwId::SDMA0).major != 5) {
        // Each AID has room for four and one hub for them; the client says which of the four it is.
        constexpr uint8_t clients[] = {SOC15_IH_CLIENTID_SDMA0, SOC15_IH_CLIENTID_SDMA1,
                                       SOC15_IH_CLIENTID_SDMA2, SOC15_IH_CLIENTID_SDMA3};
        for (const IpInstance* ip : profile.working(HwId::SDMA0)) {
            const auto aid = static_cast<uint8_t>(ip->instance / std::size(clients));
            layouts.push_back({at(*ip, Reg{0, 0}),
                               {Hub::Kind::mm, aid},
                               clients[ip->instance % std::size(clients)],
                               ih_node_of_aid(aid)});
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
