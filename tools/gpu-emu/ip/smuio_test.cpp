// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of Smuio.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/ip/smuio.h"

#include <gtest/gtest.h>

namespace gpuemu {
namespace {

constexpr uint32_t mmROM_INDEX = 0x16800 + 0xe4, mmROM_DATA = 0x16800 + 0xe5;
constexpr uint32_t mmGOLDEN_TSC_COUNT_UPPER = 0x16a00 + 0x102;
constexpr uint32_t mmGOLDEN_TSC_COUNT_LOWER = 0x16a00 + 0x103;

class SmuioTest : public testing::Test {
protected:
    SmuioTest() { smuio.reset(ResetKind::cold); }

    std::vector<std::byte> rom() {
        std::vector<std::byte> bytes;
        for (int value = 1; value <= 10; ++value) {
            bytes.push_back(static_cast<std::byte>(value));
        }
        return bytes;
    }

    RegisterFile registers{1u << 20};
    uint64_t clock = 0x1'0000'0007;
    Smuio smuio{*find_profile("navi21"), registers, rom(), [this] { return clock; }};
};

TEST_F(SmuioTest, RomIsReadFromTheIndexOn) {
    registers.write(mmROM_INDEX, 0);
    EXPECT_EQ(registers.read(mmROM_DATA), 0x04030201u);
    EXPECT_EQ(registers.read(mmROM_DATA), 0x08070605u);
    registers.write(mmROM_INDEX, 4);
    EXPECT_EQ(registers.read(mmROM_DATA), 0x08070605u);
}

TEST_F(SmuioTest, BehindTheImageIsErasedFlash) {
    registers.write(mmROM_INDEX, 8);
    EXPECT_EQ(registers.read(mmROM_DATA), ~0u);
    registers.write(mmROM_INDEX, ~3u);
    EXPECT_EQ(registers.read(mmROM_DATA), ~0u);
    EXPECT_EQ(registers.read(mmROM_DATA), 0x04030201u) << "the index starts again";
}

TEST_F(SmuioTest, TimeStampCounterRuns) {
    EXPECT_EQ(registers.read(mmGOLDEN_TSC_COUNT_UPPER), 1u);
    EXPECT_EQ(registers.read(mmGOLDEN_TSC_COUNT_LOWER), 7u);
    clock += 5;
    EXPECT_EQ(registers.read(mmGOLDEN_TSC_COUNT_LOWER), 12u);
}

}  // namespace
}  // namespace gpuemu
