// SPDX-License-Identifier: GPL-2.0
// Purpose: Engines as the GPU uses them: doorbells find their queue, reset, status lines.
#include "gpu-emu/board/engines.h"

#include <gtest/gtest.h>

#include "gpu-emu/testing/cp_bench.h"

namespace gpuemu {
namespace {

class EnginesTest : public testing::Test {
protected:
    EnginesTest()
        : profile(test::small_profile()),
          registers(2u << 20),
          engines({profile, registers, memory, interrupts, kicker, [] { return uint64_t{1}; },
                   mutator}) {}

    /// Writes SDMA `base`'s GFX queue: enabled, doorbell `index`.
    void start_sdma(uint32_t base, uint32_t index) {
        registers.write(base + 0x80 + sdma_4_4_2::DOORBELL, 1u << 28);
        registers.write(base + 0x80 + sdma_4_4_2::DOORBELL_OFFSET, index << 2);
        registers.write(base + 0x80 + sdma_4_4_2::RB_CNTL, 8u << 1 | 1);
    }

    Profile profile;
    RegisterFile registers;
    test::PlainMemory memory;
    test::RecordingSink interrupts;
    test::RecordingKicker kicker;
    Mutator mutator;
    Engines engines;
};

TEST_F(EnginesTest, DoorbellsFindTheirEngine) {
    start_sdma(0x1260, 0x1e0);
    start_sdma(0x1860, 0x1f0);
    kicker.kicked.clear();
    EXPECT_TRUE(engines.ring_doorbell(0x1f0, 4));
    ASSERT_EQ(kicker.kicked.size(), 1u);
    EXPECT_STREQ((*kicker.kicked.begin())->name(), "sdma1");
    EXPECT_FALSE(engines.ring_doorbell(0x200, 4));
    EXPECT_NE(engines.describe().find("sdma1 gfx vmid 0 doorbell 0x1f0 rptr 0 wptr 1"),
              std::string::npos);
}

TEST_F(EnginesTest, ResetTakesAllQueues) {
    start_sdma(0x1260, 0x1e0);
    engines.reset();
    registers.clear();
    EXPECT_FALSE(engines.ring_doorbell(0x1e0, 4));
    EXPECT_EQ(engines.describe(), "");
}

TEST_F(EnginesTest, SdmaInstancesAreResetAlone) {
    start_sdma(0x1260, 0x1e0);
    start_sdma(0x1860, 0x1f0);
    registers.write(0x1860 + 0x80 + sdma_4_4_2::RB_RPTR, 64);
    registers.write(0x1860 + 2, 1);  // SDMA_F32_CNTL.HALT: the driver waits for it to go
    engines.reset_sdma(1u << 1);
    EXPECT_FALSE(engines.ring_doorbell(0x1f0, 4));
    for (uint32_t dword = 0x1860; dword < 0x1860 + 0x80 + sdma_4_4_2::queue_stride; ++dword) {
        if (dword != 0x1860 + 0x80 + sdma_4_4_2::CONTEXT_STATUS &&
            dword != 0x1860 + sdma_4_4_2::regSDMA_STATUS_REG.offset) {
            EXPECT_EQ(registers.read(dword), 0u) << dword;
        }
    }
    EXPECT_EQ(registers.read(0x1860 + sdma_4_4_2::regSDMA_STATUS_REG.offset), 1u) << "idle";
    EXPECT_TRUE(engines.ring_doorbell(0x1e0, 4));
}

}  // namespace
}  // namespace gpuemu
