// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of RegisterNames.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/board/register_names.h"

#include <gtest/gtest.h>

namespace gpuemu {
namespace {

TEST(RegisterNames, KnowsTheRegistersOfTheModel) {
    const RegisterNames names(*find_profile("mi300x"));
    EXPECT_EQ(names.name(0xde3), "regRCC_DEV0_EPF0_RCC_CONFIG_MEMSIZE");
    EXPECT_EQ(names.name(0x16061), "regMP0_SMN_C2PMSG_33");
    EXPECT_EQ(names.name(0x3247), "regCP_HQD_ACTIVE");
    EXPECT_EQ(names.name(0x2000 + 0x860 + 8), "regVM_CONTEXT8_CNTL");
    EXPECT_EQ(names.name(0x18000 + 0xbd5 + 3), "MMHUB.regVM_INVALIDATE_ENG3_ACK");
    EXPECT_EQ(names.name(0x1860 + 0x80), "SDMA1.regSDMA_GFX_RB_CNTL");
    EXPECT_EQ(names.name(0x1ffff), "");
}

TEST(RegisterNames, TellsXccsAndAidsApart) {
    const RegisterNames names(*find_profile("mi308x"));
    EXPECT_EQ(names.name(0x3247), "regCP_HQD_ACTIVE");
    EXPECT_EQ(names.name(0x43247), "XCC4.regCP_HQD_ACTIVE");
    EXPECT_EQ(names.name(0x62000 + 0x860 + 8), "XCC6.regVM_CONTEXT8_CNTL");
    EXPECT_EQ(names.name(0x13247), "") << "harvested";
    EXPECT_EQ(names.name(0x28000 + 0xbd5 + 3), "MMHUB1.regVM_INVALIDATE_ENG3_ACK");
    EXPECT_EQ(names.name(0x23400 + 0x80), "SDMA4.regSDMA_GFX_RB_CNTL");
}

TEST(RegisterNames, KnowsThoseOfNavi21) {
    const RegisterNames names(*find_profile("navi21"));
    EXPECT_EQ(names.name(0xde3), "regRCC_DEV0_EPF0_RCC_CONFIG_MEMSIZE");
    EXPECT_EQ(names.name(0xd20 + 0x11), "mmRCC_DEV0_EPF0_STRAP0");
    EXPECT_EQ(names.name(0x1260 + 0x1fab), "regCP_HQD_ACTIVE");
    EXPECT_EQ(names.name(0x1260 + 0x15fc + 8), "mmGCVM_CONTEXT8_CNTL");
    EXPECT_EQ(names.name(0x1a000 + 0x6f5 + 3), "MMHUB.mmMMVM_INVALIDATE_ENG3_ACK");
    EXPECT_EQ(names.name(0x1c400 + 0x80), "SDMA3.regSDMA_GFX_RB_CNTL");
    EXPECT_EQ(names.name(0x16800 + 0xe5), "mmROM_DATA");
}

TEST(RegisterNames, OfVideoEnginesSayWhichRing) {
    const RegisterNames mi300x(*find_profile("mi300x"));
    EXPECT_EQ(mi300x.name(0x7e00 + 0xac), "VCN0.unified_RB_RPTR");
    EXPECT_EQ(mi300x.name(0x7e00 + 0x143), "VCN0.UVD_STATUS");
    EXPECT_EQ(mi300x.name(0x7849), "JPEG0.jpeg2_STATUS");
    EXPECT_EQ(RegisterNames(*find_profile("navi21")).name(0x12000 + 0x2e1), "VCN1.dec_RB_WPTR");
}

}  // namespace
}  // namespace gpuemu
