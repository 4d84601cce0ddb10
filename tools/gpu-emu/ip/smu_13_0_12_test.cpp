// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of Smu13_0_12: messages in the way of smu_cmn.c, tables in shared memory at the
// offsets of smu_v13_0_12_pmfw.h.
// Thread: the test's.
// Does not model: what Smu answers (smu_test.cpp).
#include "gpu-emu/ip/smu_13_0_12.h"

#include <gtest/gtest.h>

#include <string>

#include "gpu-emu/ip/fru.h"
#include "gpu-emu/ip/regs/mp_13_0_6.h"
#include "gpu-emu/testing/test_memory.h"

namespace gpuemu {
namespace {

namespace mp = mp_13_0_6;

constexpr uint64_t table = 0x20000;
constexpr uint32_t ok = 1, failed = 0xff;

Profile long_names() {
    Profile profile = *find_profile("mi350x");
    profile.product.serial = std::string(30, 'S');
    profile.serial = 0xe01;
    return profile;
}

class Smu13_0_12Test : public testing::Test {
protected:
    Smu13_0_12Test() {
        smu.reset(ResetKind::cold);
        send(0xD, static_cast<uint32_t>(table >> 32));
        send(0xE, static_cast<uint32_t>(table));
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

    std::string text(uint64_t offset) const {
        std::string found;
        while (const char letter = memory.get<char>(table + offset + found.size())) {
            found += letter;
        }
        return found;
    }

    const Profile profile = long_names();
    RegisterFile registers{2u << 20};
    TestMemory memory;
    RecordingSink sink;
    Eeprom eeprom{"", build_fru_image(profile.product)};
    Ras ras{{sink, [] {}}};
    Mutator mutator;
    std::vector<uint32_t> sdma_resets, vcn_resets;
    Smu13_0_12 smu{{profile, registers, memory, eeprom, ras, [] {}, [] {}, [] {},
                    [this](uint32_t instances) { sdma_resets.push_back(instances); },
                    [this](uint32_t instances) { vcn_resets.push_back(instances); },
                    [] { return uint64_t{1000}; }, mutator}};
    uint32_t result = 0;
};

TEST_F(Smu13_0_12Test, ItsVersionHasAllThatTheDriverKnows) {
    EXPECT_EQ(send(0x2), ok);
    EXPECT_EQ(result, 0x04561000u) << "smu_v13_0_12_init_caps()";
    EXPECT_EQ(send(0x8), ok);
    EXPECT_GE(result, 0x13u) << "the width of XGMI is in the static table";
}

TEST_F(Smu13_0_12Test, DpmRunsAndTheEepromIsNotBehindTheFirmware) {
    send(0xB);
    EXPECT_EQ(result & 7, 7u) << "smu_v13_0_12_dpm_features";
    EXPECT_NE(result, ~0u);
    send(0xC);
    EXPECT_EQ(result & 1u << (40 - 32), 0u) << "FEATURE_HROM_EN";
}

TEST_F(Smu13_0_12Test, WhatIsNotDifferentIsThatOf13_0_6) {
    EXPECT_EQ(send(0x1, 41), ok);
    EXPECT_EQ(result, 42u);
    EXPECT_EQ(send(0x4D, 1u << 1), ok);
    EXPECT_EQ(sdma_resets, std::vector<uint32_t>{2});
}

TEST_F(Smu13_0_12Test, ResetsVcnByAnotherNumber) {
    EXPECT_EQ(send(0x5E, 1), ok);
    EXPECT_EQ(vcn_resets, std::vector<uint32_t>{1});
    EXPECT_NE(send(0x5B, 1), ok);
    EXPECT_EQ(vcn_resets.size(), 1u);
}

TEST_F(Smu13_0_12Test, StaticTableIsThePowerPlayTableAndTheFru) {
    ASSERT_EQ(send(0x59), ok);
    EXPECT_EQ(text(0), "EMU-MI350X");
    EXPECT_EQ(text(20), "Emulated Instinct MI350X");
    EXPECT_EQ(text(84), std::string(19, 'S')) << "cut, so that the driver finds its end";
    EXPECT_EQ(text(104), "Emulated");
    EXPECT_EQ(text(136), "amdgpu-emu");
    send(0x19);
    EXPECT_EQ(memory.get<uint32_t>(table + 168), result << 10);  // MaxSocketPowerLimit
    send(0x33);
    EXPECT_EQ(memory.get<uint32_t>(table + 172), result << 10);  // MaxGfxclkFrequency
    send(0x32);
    EXPECT_EQ(memory.get<uint32_t>(table + 176), result << 10);  // MinGfxclkFrequency
    EXPECT_EQ(memory.get<uint32_t>(table + 180), 1200u << 10);   // FclkFrequencyTable[0]
    EXPECT_EQ(memory.get<uint64_t>(table + 276), 0xe01u);        // PublicSerialNumber_AID[0]
    EXPECT_EQ(memory.get<uint32_t>(table + 372), 16u << 10);     // MaxXgmiWidth
    EXPECT_EQ(memory.get<uint32_t>(table + 380), 54000u) << "the driver warns of a board without";
    EXPECT_EQ(memory.get<uint32_t>(table + 396), 0u) << "PPT1Max";
}

TEST_F(Smu13_0_12Test, MetricsAreFilledAndCounted) {
    ASSERT_EQ(send(0x9), ok);
    const auto first = memory.get<uint64_t>(table);
    EXPECT_NE(first, 0u);
    EXPECT_EQ(memory.get<uint32_t>(table + 44), 1000u << 10);  // SocketPowerLimit
    EXPECT_EQ(memory.get<uint64_t>(table + 52), 1000u);        // Timestamp
    EXPECT_EQ(memory.get<uint32_t>(table + 240), 16u);         // XgmiWidth
    EXPECT_EQ(memory.get<uint32_t>(table + 468), 132u << 10);  // GfxclkFrequency[0]
    EXPECT_EQ(memory.get<uint32_t>(table + 472), 0u) << "an XCC that the board does not have";
    EXPECT_EQ(memory.get<uint32_t>(table + 840), 5u);    // PCIeLinkSpeed
    EXPECT_EQ(memory.get<uint32_t>(table + 1204), 40u);  // AidTemperature[0]
    EXPECT_EQ(memory.get<uint32_t>(table + 1208), 0u) << "an AID that the board does not have";
    EXPECT_EQ(memory.get<uint32_t>(table + 1280), 38u);  // HbmTemperature[7]
    ASSERT_EQ(send(0x9), ok);
    EXPECT_GT(memory.get<uint64_t>(table), first);
}

/// smu_v13_0_12_get_temp_metrics() takes -1 for a sensor that is not there.
TEST_F(Smu13_0_12Test, OfTheSystemTheBoardHasSensors) {
    ASSERT_EQ(send(0x5C), ok);
    EXPECT_EQ(memory.get<int16_t>(table + 12), -1) << "the base board";
    EXPECT_EQ(memory.get<int16_t>(table + 76), 35);
    EXPECT_EQ(memory.get<int16_t>(table + 76 + 5 * 2), 35) << "the last that has a name";
    EXPECT_EQ(memory.get<int16_t>(table + 76 + 6 * 2), -1);
    EXPECT_EQ(memory.get<int16_t>(table + 100 + 12 * 2), 35);
    EXPECT_EQ(memory.get<uint32_t>(table + 140), 8000u << 10);  // NodePowerLimit
}

TEST_F(Smu13_0_12Test, UnreachableTableFailsTheMessage) {
    send(0xD, 0xff);
    for (const uint32_t message : {0x9u, 0x59u, 0x5Cu}) {
        EXPECT_EQ(send(message), failed) << message;
    }
}

}  // namespace
}  // namespace gpuemu
