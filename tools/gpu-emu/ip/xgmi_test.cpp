// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of Xgmi, read as the driver reads it.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/ip/xgmi.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "gpu-emu/ip/regs/gc_9_4_3.h"
#include "gpu-emu/ip/regs/mmhub_1_8_0.h"
#include "gpu-emu/ip/regs/registers.h"

namespace gpuemu {
namespace {

namespace gc = gc_9_4_3;
namespace mm = mmhub_1_8_0;

class XgmiTest : public testing::Test {
protected:
    void sit(unsigned node) {
        profile.hive.node = node;
        xgmi.reset(ResetKind::cold);
    }
    uint32_t get(HwId ip, Reg reg) { return registers.read(at(profile.ip(ip), reg)); }

    Profile profile = *find_profile("mi300x-hive");
    RegisterFile registers{profile.register_bar_bytes};
    Xgmi xgmi{profile, registers};
};

/// gfxhub_v1_2_get_xgmi_info().
TEST_F(XgmiTest, TellsSizeAndPlaceInTheHive) {
    for (const unsigned node : {0u, 1u}) {
        sit(node);
        const uint32_t control = get(HwId::GC, gc::regMC_VM_XGMI_LFB_CNTL);
        EXPECT_EQ(((control & 0xf0) >> 4) + 1, 2u) << "num_physical_nodes";
        EXPECT_EQ(control & 0xf, node) << "physical_node_id";
        EXPECT_EQ(uint64_t{get(HwId::GC, gc::regMC_VM_XGMI_LFB_SIZE) & 0x1ffff} << 24, 16ull << 30)
            << "node_segment_size";
        EXPECT_EQ(get(HwId::MMHUB, mm::regMC_VM_XGMI_LFB_CNTL), control);
    }
}

/// mmhub_v1_8_get_fb_location(): GART must not be put where the memory of a peer is.
TEST_F(XgmiTest, TheFrameBufferIsThatOfAllNodes) {
    sit(1);
    const uint64_t end = profile.fb_base + (32ull << 30);
    EXPECT_EQ(uint64_t{get(HwId::MMHUB, mm::regMC_VM_FB_LOCATION_TOP)} << 24, end - (1u << 24));
    EXPECT_EQ(uint64_t{get(HwId::GC, gc::regMC_VM_FB_LOCATION_TOP)} << 24, end - (1u << 24));
}

TEST_F(XgmiTest, SocketAndLinks) {
    sit(1);
    const uint32_t config = registers.read(0x16A00 + 0x23);
    EXPECT_EQ(config >> 8 & 0xf, 1u) << "smuio_v13_0_3_get_socket_id()";
    EXPECT_EQ(config >> 2 & 0xf, 0u) << "a card, no APU";
    // xgmi_v6_4_get_link_status() of links 0 and 1.
    EXPECT_EQ(registers.read_far(0x11a00070) & 0xff, 0x81u) << "up";
    EXPECT_EQ(registers.read_far(0x11b00070) & 0xff, 0xd1u) << "nobody behind it";
}

TEST_F(XgmiTest, AHiveIsNotLargerThanThePortsAllow) {
    profile.hive.nodes = 3;
    Xgmi(profile, registers).reset(ResetKind::cold);
    EXPECT_EQ(registers.read_far(0x11b00070) & 0xff, 0x81u) << "both ports lead to somebody";
    profile.hive.nodes = 4;
    EXPECT_THROW(Xgmi(profile, registers), std::invalid_argument);
}

}  // namespace
}  // namespace gpuemu
