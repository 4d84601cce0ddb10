// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of Rlcg and Rlc.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/ip/rlcg.h"

#include <gtest/gtest.h>

#include "gpu-emu/ip/regs/gc_9_4_3.h"
#include "gpu-emu/ip/rlc.h"

namespace gpuemu {
namespace {

namespace gc = gc_9_4_3;

class RlcgTest : public testing::Test {
protected:
    RlcgTest() { rlcg.reset(ResetKind::cold); }
    uint32_t address(Reg reg) const { return at(profile.ip(HwId::GC), reg); }

    /// amdgpu_virt_rlcg_reg_rw(); the error bits are left in SCRATCH_REG1.
    uint32_t access(uint32_t dword, uint32_t value, uint32_t command) {
        registers.write(address(gc::regSCRATCH_REG0), value);
        registers.write(address(gc::regSCRATCH_REG1), dword | command << 28);
        registers.write(address(gc::regRLC_SPARE_INT), 1);
        EXPECT_EQ(registers.read(address(gc::regSCRATCH_REG1)) & 0xfffff, 0u);
        return registers.read(address(gc::regSCRATCH_REG0));
    }

    const Profile& profile = *find_profile("mi300x-vf");
    RegisterFile registers{2u << 20};
    Rlcg rlcg{profile, registers};
};

TEST_F(RlcgTest, WritesAndReadsForTheGuest) {
    access(0x3245, 77, 0);
    EXPECT_EQ(registers.read(0x3245), 77u);
    EXPECT_EQ(access(0x3245, 0, 1), 77u);
    access(0x3246, 78, 8);
    EXPECT_EQ(registers.read(0x3246), 78u);
}

TEST_F(RlcgTest, UnknownOperationIsAnError) {
    access(0x3245, 1, 5);
    EXPECT_NE(registers.read(address(gc::regSCRATCH_REG1)) & 0xf000000, 0u);
}

TEST_F(RlcgTest, RequestForItsOwnRingEnds) {
    access(address(gc::regRLC_SPARE_INT), 1, 0);
    EXPECT_EQ(access(0x3245, 0, 1), 0u);
}

TEST_F(RlcgTest, SelectionComesByScratchTwo) {
    registers.write(address(gc::regSCRATCH_REG2), 0x104);
    EXPECT_EQ(registers.read(address(gc::regGRBM_GFX_CNTL)), 0x104u);
}

TEST_F(RlcgTest, PartitionHasOneXcc) {
    EXPECT_EQ(registers.read(address(gc::regCP_HYP_XCP_CTL)) >> 3 & 0xf, 1u);
}

TEST(Rlc, SafeModeCommandsAreDoneAndTheClockIsCaptured) {
    const Profile& profile = *find_profile("mi300x");
    RegisterFile registers(2u << 20);
    uint64_t now = 0x1'0000'0007;
    Rlc rlc(gc_layout(profile), read_only, registers, [&] { return now; });
    rlc.reset(ResetKind::cold);
    const auto address = [&](Reg reg) { return at(profile.ip(HwId::GC), reg); };
    registers.write(address(gc::regRLC_SAFE_MODE), 3);
    EXPECT_EQ(registers.read(address(gc::regRLC_SAFE_MODE)), 2u);
    registers.write(address(gc::regRLC_CAPTURE_GPU_CLOCK_COUNT), 1);
    EXPECT_EQ(registers.read(address(gc::regRLC_CAPTURE_GPU_CLOCK_COUNT)), 0u);
    registers.write(address(gc::regRLC_GPU_CLOCK_COUNT_LSB), 99);
    now = 0x2'0000'0000;
    EXPECT_EQ(registers.read(address(gc::regRLC_GPU_CLOCK_COUNT_LSB)), 7u);
    EXPECT_EQ(registers.read(address(gc::regRLC_GPU_CLOCK_COUNT_MSB)), 1u);
}

}  // namespace
}  // namespace gpuemu
