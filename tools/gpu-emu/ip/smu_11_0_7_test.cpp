// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of Smu11: messages in the way of smu_cmn.c, tables in shared memory.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/ip/smu_11_0_7.h"

#include <gtest/gtest.h>

#include <vector>

#include "gpu-emu/ip/regs/mp_13_0_6.h"
#include "gpu-emu/testing/test_memory.h"

namespace gpuemu {
namespace {

namespace mp = mp_13_0_6;

constexpr uint64_t table = 0x20000;
constexpr uint32_t ok = 1, failed = 0xff, unknown_command = 0xfe;

class Smu11Test : public testing::Test {
protected:
    Smu11Test() {
        smu.reset(ResetKind::cold);
        send(0xE, static_cast<uint32_t>(table >> 32));
        send(0xF, static_cast<uint32_t>(table));
    }

    uint32_t address(Reg reg) const { return at(profile.ip(HwId::MP1), reg); }

    /// Response register; the result is in `result`.
    uint32_t send(uint32_t message, uint32_t argument = 0) {
        registers.write(address(mp::regMP1_SMN_C2PMSG_90), 0);
        registers.write(address(mp::regMP1_SMN_C2PMSG_82), argument);
        registers.write(address(mp::regMP1_SMN_C2PMSG_66), message);
        result = registers.read(address(mp::regMP1_SMN_C2PMSG_82));
        return registers.read(address(mp::regMP1_SMN_C2PMSG_90));
    }

    const Profile& profile = *find_profile("navi21");
    RegisterFile registers{1u << 20};
    TestMemory memory;
    Mutator mutator;
    int resets = 0;
    uint32_t result = 0;
    struct Vcn {
        unsigned instance;
        bool on;
    };
    std::vector<Vcn> vcn;
    std::vector<bool> jpeg;
    Smu11 smu{{profile, registers, memory, mutator},
              [this] { ++resets; },
              {[this](unsigned instance, bool on) {
                   vcn.push_back({instance, on});
               },
               [this](bool on) { jpeg.push_back(on); }}};
};

/// sienna_cichlid_dpm_set_vcn_enable() and _jpeg_enable(), which first ask whether the feature
/// runs.
TEST_F(Smu11Test, SwitchesTheVideoEngines) {
    EXPECT_EQ(send(0xC), ok);
    EXPECT_EQ(result >> 22 & 1, 1u) << "FEATURE_MM_DPM_PG";
    EXPECT_EQ(send(0x2A, 0x10000), ok);
    EXPECT_EQ(send(0x2B, 0), ok);
    ASSERT_EQ(vcn.size(), 2u);
    EXPECT_EQ(vcn[0].instance, 1u);
    EXPECT_TRUE(vcn[0].on);
    EXPECT_EQ(vcn[1].instance, 0u);
    EXPECT_FALSE(vcn[1].on);
    EXPECT_EQ(send(0x2C), ok);
    EXPECT_EQ(send(0x2D), ok);
    EXPECT_EQ(jpeg, (std::vector<bool>{true, false}));
}

TEST_F(Smu11Test, SaysThatItRuns) {
    EXPECT_EQ(registers.read_far(0x3b10024) & 1, 1u);  // smu_v11_0_check_fw_status()
    EXPECT_EQ(send(0x3), ok);
    EXPECT_EQ(result, 0x40u);
    EXPECT_EQ(send(0x2), ok);
    EXPECT_GE(result, 0x003a1a00u) << "sienna_cichlid_is_mode1_reset_supported()";
    EXPECT_LT(result, 0x003a4300u) << "later ones have other metrics";
}

TEST_F(Smu11Test, DpmLevelsRiseWithinTheirRange) {
    for (const uint32_t clock : {0u, 1u, 2u, 3u}) {
        ASSERT_EQ(send(0x1F, clock << 16 | 0xff), ok);
        const uint32_t levels = result;
        ASSERT_GT(levels, 1u);
        ASSERT_LE(levels, 16u);  // MAX_DPM_LEVELS
        uint32_t last = 0;
        for (uint32_t level = 0; level < levels; ++level) {
            ASSERT_EQ(send(0x1F, clock << 16 | level), ok);
            EXPECT_GT(result, last);
            last = result;
        }
        EXPECT_EQ(send(0x1F, clock << 16 | levels), failed);
        ASSERT_EQ(send(0x1E, clock << 16), ok);
        EXPECT_EQ(result, last);
    }
}

TEST_F(Smu11Test, MetricsAreThoseOfAnIdleBoard) {
    ASSERT_EQ(send(0x12, 5), ok);
    EXPECT_EQ(memory.get<uint32_t>(table), 500u);      // CurrClock[PPCLK_GFXCLK]
    EXPECT_EQ(memory.get<uint16_t>(table + 72), 40u);  // AverageSocketPower
    EXPECT_EQ(memory.get<uint16_t>(table + 74), 40u);  // TemperatureEdge
    EXPECT_EQ(memory.get<uint8_t>(table + 131), 6u);   // PcieWidth
}

TEST_F(Smu11Test, TablesThatItDoesNotHaveAreRefused) {
    EXPECT_EQ(send(0x12, 8), ok);      // TABLE_OVERDRIVE
    EXPECT_EQ(send(0x12, 9), failed);  // TABLE_I2C_COMMANDS
    EXPECT_EQ(send(0x13, 0), ok) << "the power play table is accepted";
}

TEST_F(Smu11Test, WhatTheFirmwareDoesNotKnowIsRefused) {
    EXPECT_EQ(send(0x28), ok) << "AllowGfxOff: without an effect, but known";
    EXPECT_EQ(send(0x15), unknown_command) << "EnterBaco";
    EXPECT_EQ(send(0x5D), unknown_command) << "DriverMode2Reset";
    EXPECT_EQ(send(0x5E), unknown_command) << "PPSMC_Message_Count";
}

TEST_F(Smu11Test, Mode1ResetIsAsked) {
    EXPECT_EQ(send(0x30), ok);
    EXPECT_EQ(resets, 1);
    EXPECT_EQ(smu.messages(), 3u);
}

}  // namespace
}  // namespace gpuemu
