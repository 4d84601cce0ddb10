// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of vcn_layouts() against numbers written out from the driver's files.
#include "gpu-emu/ip/vcn/vcn_layout.h"

#include <gtest/gtest.h>

#include <set>

namespace gpuemu {
namespace {

TEST(VcnLayouts, AnMi300xHasOneWithAUnifiedRingAndEightDecoders) {
    const auto layouts = vcn_layouts(*find_profile("mi300x"));
    ASSERT_EQ(layouts.size(), 1u);
    const VcnLayout& vcn = layouts[0];
    ASSERT_EQ(vcn.rings.size(), 1u);
    EXPECT_FALSE(vcn.rbc);
    EXPECT_FALSE(vcn.mmsch);
    EXPECT_EQ(vcn.place.hub, Hub::mm);
    EXPECT_EQ(vcn.place.ih_client, 0x10);
    EXPECT_EQ(vcn.rings[0].ih_source, 0x77);
    EXPECT_EQ(vcn.vcpu_cntl, 0x7e00u + 0x196);
    // SOC15_DPG_MODE_OFFSET(): VCN_VID_SOC_ADDRESS_2_0 and VCN_AON_SOC_ADDRESS_2_0, in bytes.
    EXPECT_EQ(vcn.dword(0), 0x1fb00u / 4);
    EXPECT_EQ(vcn.dword(0x30000 / 4), 0x1f800u / 4);
    EXPECT_EQ(vcn.dword(0xdeadbeef), std::nullopt);
    ASSERT_EQ(vcn.jpeg.cores.size(), 8u);
    // regUVD_JRBC*_UVD_JRBC_SCRATCH0 of the header, and *_INTERNAL_OFFSET of jpeg_v4_0_3.h.
    EXPECT_EQ(vcn.jpeg.cores[0].window.dword(0x4094), 0x7e00u + 0x654);
    EXPECT_EQ(vcn.jpeg.cores[1].window.dword(0x4094), 0x7800u + 0x014);
    EXPECT_EQ(vcn.jpeg.cores[7].window.dword(0x4094), 0x7800u + 0x194);
    constexpr uint8_t source[] = {0x99, 0x95, 0x97, 0xab, 0xac, 0xad, 0xae, 0xaf};
    for (unsigned core = 0; core < 8; ++core) {
        EXPECT_EQ(vcn.jpeg.cores[core].ring.ih_source, source[core]);
        // regVCN_JPEG_DB_CTRL, and what jpeg_v4_0_3_hw_init() adds to it.
        EXPECT_EQ(vcn.jpeg.cores[core].ring.doorbell.dword,
                  0x7e00u + 0x71 + (core == 0 ? 0 : core - 0x15));
    }
}

TEST(VcnLayouts, EachAidOfAnMi308xHasOneThatSeesItsOwnHub) {
    const auto layouts = vcn_layouts(*find_profile("mi308x"));
    ASSERT_EQ(layouts.size(), 4u);
    constexpr uint32_t mmhub[] = {0x18000, 0x28000, 0x38000, 0x36000};
    for (uint8_t aid = 0; aid < 4; ++aid) {
        EXPECT_EQ(layouts[aid].place.hub, (Hub{Hub::Kind::mm, aid}));
        EXPECT_EQ(layouts[aid].place.ih_node, 4 * aid);
        // NORMALIZE_VCN_REG_OFFSET(): all packets name 17 bits.
        EXPECT_EQ(layouts[aid].place.of_packet((mmhub[aid] & 0x1ffff) + 0x6e3), mmhub[aid] + 0x6e3);
        EXPECT_EQ(layouts[aid].place.of_packet(0x1234), 0x1234u);
    }
}

TEST(VcnLayouts, AnMi350xHasTenDecodersAtPlacesOfTheirOwn) {
    const auto layouts = vcn_layouts(*find_profile("mi350x"));
    ASSERT_EQ(layouts.size(), 1u);
    EXPECT_EQ(layouts[0].dword(0), 0x1fc00u / 4);  // VCN_VID_SOC_ADDRESS of vcn_v5_0_0.h
    ASSERT_EQ(layouts[0].jpeg.cores.size(), 10u);
    std::set<uint32_t> first;
    for (unsigned core = 0; core < 10; ++core) {
        first.insert(layouts[0].jpeg.cores[core].ring.wptr);
        EXPECT_EQ(layouts[0].jpeg.cores[core].ring.doorbell.dword, 0x7e00u + 0x68 + core);
    }
    EXPECT_EQ(first.size(), 10u);
    EXPECT_EQ(layouts[0].jpeg.cores[8].ring.wptr, 0x7e00u + 0x640 + 0x40 * 8 - 0xc80);
    EXPECT_EQ(layouts[0].jpeg.cores[9].ring.wptr, 0x7e00u + 0x640 + 0x40 * 9 - 0x440);
}

TEST(VcnLayouts, ANavi21HasTwoWithThreeRingsAndOneDecoder) {
    const auto layouts = vcn_layouts(*find_profile("navi21"));
    ASSERT_EQ(layouts.size(), 2u);
    for (const VcnLayout& vcn : layouts) {
        ASSERT_EQ(vcn.rings.size(), 3u);
        EXPECT_TRUE(vcn.rbc);
        EXPECT_EQ(vcn.rings[0].ih_source, 124);
        EXPECT_EQ(vcn.rings[1].ih_source, 119);
        EXPECT_EQ(vcn.rings[2].ih_source, 120);
        EXPECT_EQ(vcn.dword(0xf), vcn.rbc->gpcom_cmd);  // mmUVD_*_INTERNAL_OFFSET of vcn_v3_0.c
        EXPECT_EQ(vcn.dword(0x10), vcn.rbc->gpcom_data0);
        EXPECT_EQ(vcn.dword(0x25c), vcn.rbc->ib_size);
        EXPECT_EQ(vcn.dword(0x431), vcn.rbc->ib_vmid);
    }
    EXPECT_EQ(layouts[0].place.ih_client, 0x10);
    EXPECT_EQ(layouts[1].place.ih_client, 0x0e);
    EXPECT_EQ(layouts[1].dword(0xc01d), 0x12000u + 0x1d);  // mmUVD_SCRATCH9_INTERNAL_OFFSET
    EXPECT_EQ(layouts[0].jpeg.cores.size(), 1u);
    EXPECT_TRUE(layouts[1].jpeg.cores.empty());
    // mmUVD_JPEG_PITCH and its INTERNAL_OFFSET of jpeg_v2_0.h.
    EXPECT_EQ(layouts[0].jpeg.cores[0].window.dword(0x401f), 0x7800u + 0x9f);
}

TEST(VcnLayouts, OfAHarvestedInstanceNothingIsThere) {
    Profile profile = *find_profile("navi21");
    profile.harvested.push_back({HwId::VCN, 0});
    const auto layouts = vcn_layouts(profile);
    ASSERT_EQ(layouts.size(), 1u);
    EXPECT_EQ(layouts[0].place.instance, 1u);
}

TEST(VideoDoorbell, IsInARegisterOrInARange) {
    RegisterFile registers(4096);
    const VideoDoorbell own{VideoDoorbell::Kind::own, 8};
    EXPECT_EQ(own.index(registers), std::nullopt);
    registers.write(8, 0x360u << 2);
    EXPECT_EQ(own.index(registers), std::nullopt) << "not enabled";
    registers.write(8, 0x360u << 2 | 1u << 30);
    EXPECT_EQ(own.index(registers), 0x360u);
    const VideoDoorbell third{VideoDoorbell::Kind::place_in_range, 9, 2};
    registers.write(9, 0x310u << 2 | 2u << 16);
    EXPECT_EQ(third.index(registers), std::nullopt) << "a range of two";
    registers.write(9, 0x310u << 2 | 8u << 16);
    EXPECT_EQ(third.index(registers), 0x312u);
}

}  // namespace
}  // namespace gpuemu
