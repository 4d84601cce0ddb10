// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of RegisterNames.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/ip/register_names.h"

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

}  // namespace
}  // namespace gpuemu
