// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of Smu: messages in the way of smu_cmn.c, tables in shared memory.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/ip/smu.h"

#include <gtest/gtest.h>

#include "gpu-emu/ip/fru.h"
#include "gpu-emu/ip/regs/mp_13_0_6.h"
#include "gpu-emu/testing/test_memory.h"

namespace gpuemu {
namespace {

namespace mp = mp_13_0_6;

constexpr uint64_t table = 0x20000;
constexpr uint32_t ok = 1, failed = 0xff, unknown_command = 0xfe;

Profile numbered() {
    Profile profile = *find_profile("mi300x");
    profile.serial = 0xe01;
    return profile;
}

class SmuTest : public testing::Test {
protected:
    SmuTest() {
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

    /// One transaction in the form of smu_v13_0_6_i2c_xfer(): bytes to write, then bytes to read.
    uint32_t i2c(uint8_t device, std::vector<uint8_t> out, unsigned in) {
        const auto count = static_cast<uint8_t>(out.size() + in);
        memory.put<uint32_t>(table, uint32_t{count} << 24 | uint32_t{device} << 17 | 2 << 8);
        for (unsigned index = 0; index < count; ++index) {
            const bool write = index < out.size();
            memory.put<uint8_t>(table + 4 + 2 * index, write ? out[index] : 0);
            memory.put<uint8_t>(table + 5 + 2 * index, write ? 4 : 0);
        }
        return send(0x7);
    }
    uint8_t i2c_byte(unsigned index) const { return memory.get<uint8_t>(table + 4 + 2 * index); }

    const Profile profile = numbered();
    RegisterFile registers{2u << 20};
    TestMemory memory;
    RecordingSink sink;
    Eeprom eeprom{"", build_fru_image(profile.product)};
    Ras ras{{sink, [] {}}};
    int mode1 = 0, mode2 = 0, mode4 = 0;
    std::vector<uint32_t> sdma_resets, vcn_resets;
    Mutator mutator;
    Smu smu{{profile, registers, memory, eeprom, ras, [this] { ++mode1; }, [this] { ++mode2; },
             [this] { ++mode4; }, [this](uint32_t instances) { sdma_resets.push_back(instances); },
             [this](uint32_t instances) { vcn_resets.push_back(instances); },
             [] { return uint64_t{1000}; }, mutator}};
    uint32_t result = 0;
};

TEST_F(SmuTest, IsUpAfterReset) {
    EXPECT_EQ(registers.read(address(mp::regMP1_SMN_C2PMSG_90)), ok);
    EXPECT_EQ(registers.read_far(0x3b10028) & 1, 1u);
}

TEST_F(SmuTest, AnswersWhatTheProbeAsks) {
    EXPECT_EQ(send(0x1, 41), ok);
    EXPECT_EQ(result, 42u);
    EXPECT_EQ(send(0x2), ok);
    EXPECT_EQ(result, 0x00557900u);
    send(0xB);
    EXPECT_NE(result, ~0u);  // the driver would believe in every feature
    send(0xC);
    EXPECT_EQ(result & 1u << (45 - 32), 0u);
    send(0x17, 2u << 16 | 0xff);
    EXPECT_EQ(result, 3u) << "smu_v13_0_6_get_dpm_level_count() adds one";
    send(0x17, 2u << 16 | 3);
    EXPECT_GT(result, 0u);
    EXPECT_EQ(send(0x26, 1800), ok);  // a setting
}

TEST_F(SmuTest, WhatTheFirmwareDoesNotKnowIsRefused) {
    for (const uint32_t message : {0x0u, 0x4Eu, 0x59u, 0x5Cu, 0xF0u, ~0u}) {
        EXPECT_EQ(send(message, 7), unknown_command) << message;
        EXPECT_EQ(result, 0u);
    }
    EXPECT_EQ(send(0x1, 41), ok) << "and goes on";
}

TEST_F(SmuTest, ASilentOneDoesNothing) {
    smu.ignore(2);
    EXPECT_EQ(send(0x1, 41), 0u);
    EXPECT_EQ(result, 41u) << "the argument, as it was";
    EXPECT_EQ(send(0x9), 0u);
    EXPECT_EQ(memory.get<uint32_t>(table), 0u);
    EXPECT_EQ(send(0x1, 41), ok) << "the next one is answered";
    smu.ignore(2);
    smu.reset(ResetKind::mode1);
    EXPECT_EQ(send(0x1, 41), ok) << "and so is any after a reset";
}

TEST_F(SmuTest, MetricsAreFilledAndCounted) {
    ASSERT_EQ(send(0x9), ok);
    const auto first = memory.get<uint32_t>(table);
    EXPECT_NE(first, 0u);
    EXPECT_EQ(memory.get<uint32_t>(table + 44), 750u << 10);     // MaxSocketPowerLimit
    EXPECT_EQ(memory.get<uint32_t>(table + 1020), 2100u << 10);  // MaxGfxclkFrequency
    EXPECT_EQ(memory.get<uint32_t>(table + 1028), 1200u << 10);  // FclkFrequencyTable[0]
    EXPECT_EQ(memory.get<uint32_t>(table + 1132), 16u);          // XgmiWidth
    EXPECT_EQ(memory.get<uint64_t>(table + 1404), 0xe01u);       // PublicSerialNumber_AID[0]
    ASSERT_EQ(send(0x9), ok);
    EXPECT_GT(memory.get<uint32_t>(table), first);
}

TEST_F(SmuTest, UnreachableTableFailsTheMessage) {
    send(0xD, 0xff);
    EXPECT_EQ(send(0x9), failed);
    EXPECT_EQ(send(0x7), failed);
}

TEST_F(SmuTest, EepromIsBehindI2c) {
    ASSERT_EQ(i2c(0x54, {0x00, 0x10, 0xde, 0xad}, 0), ok);
    ASSERT_EQ(i2c(0x54, {0x00, 0x10}, 3), ok);
    EXPECT_EQ(i2c_byte(2), 0xde);
    EXPECT_EQ(i2c_byte(3), 0xad);
    EXPECT_EQ(i2c_byte(4), 0xff);
    EXPECT_EQ(eeprom.contents()[0x40010], std::byte{0xde});
}

TEST_F(SmuTest, FruIsBehindI2c) {
    ASSERT_EQ(i2c(0x58, {0x00, 0x00}, 8), ok);  // the IPMI common header
    EXPECT_EQ(i2c_byte(2), 1);
    EXPECT_EQ(i2c_byte(2 + 4), 1);  // the product info area follows it
}

TEST_F(SmuTest, BadI2cTransactionsFail) {
    EXPECT_EQ(i2c(0x20, {0, 0}, 1), failed);  // nobody there
    memory.put<uint32_t>(table, 25u << 24 | 0xa8 << 16);
    EXPECT_EQ(send(0x7), failed);  // more commands than the table has
}

TEST_F(SmuTest, AcaBanksAreReadByMessages) {
    ras.inject(RasBlock::umc, RasSeverity::poison);
    ras.inject(RasBlock::sdma, RasSeverity::uncorrectable);
    send(0x3A);
    EXPECT_EQ(result, 1u);
    send(0x3B, 5 * 8 + 4);  // upper half of IPID
    EXPECT_EQ(result & 0xfff, 0x96u);
    send(0x36);
    EXPECT_EQ(result, 1u);
    send(0x37, 5 * 8);
    EXPECT_EQ(result, 0x03b30400u);
    send(0x36);
    EXPECT_EQ(result, 0u);
}

TEST_F(SmuTest, ResetsAreAskedFor) {
    EXPECT_EQ(send(0x3, 1), ok);
    EXPECT_EQ(mode1, 1);
    EXPECT_EQ(send(0x3, 1 | 1u << 16), ok);  // with the fatal error flag
    EXPECT_EQ(mode1, 2);
    EXPECT_EQ(send(0x3, 2), ok);
    EXPECT_EQ(mode2, 1);
    EXPECT_EQ(send(0x3, 4), ok);
    EXPECT_EQ(mode4, 1);
    EXPECT_EQ(send(0x3, 3), failed);
    EXPECT_EQ(send(0x3, 9), failed);
    EXPECT_EQ(mode1, 2);
}

TEST_F(SmuTest, SdmaInstancesAreResetOneByOne) {
    EXPECT_EQ(send(0x4D, 1u << 1), ok);
    EXPECT_EQ(sdma_resets, std::vector<uint32_t>{2});
    EXPECT_EQ(send(0x4D, 0), failed);
    EXPECT_EQ(send(0x4D, 1u << 2), failed);  // there are two
    EXPECT_EQ(send(0x4D, ~0u), failed);
    EXPECT_EQ(sdma_resets.size(), 1u);
    EXPECT_EQ(send(0x5B, 1), ok);  // ResetVCN
    EXPECT_EQ(vcn_resets, std::vector<uint32_t>{1});
    EXPECT_EQ(send(0x5B, 2), failed) << "there is one";
    EXPECT_EQ(vcn_resets.size(), 1u);
}

TEST_F(SmuTest, AHostileFirmwareLiesInArgumentResultAndTables) {
    ASSERT_EQ(send(0x9), ok);
    const auto honest = memory.get<std::array<uint32_t, 16>>(table);
    mutator.start(1, std::array{Surface::firmware}, 1);
    EXPECT_NE(send(0x4), ok);
    EXPECT_NE(result, 8u);
    EXPECT_EQ(mutator.mutations(), 2u);
    send(0x9);
    const auto lies = memory.get<std::array<uint32_t, 16>>(table);
    EXPECT_NE(lies[1], honest[1]);
    EXPECT_NE(lies[2], honest[2]);
    mutator.stop();
    EXPECT_EQ(send(0x4), ok);
    EXPECT_EQ(result, 8u);
}

TEST_F(SmuTest, AHostileEepromLiesInWhatIsReadFromIt) {
    ASSERT_EQ(i2c(0x58, {0x00, 0x00}, 8), ok);
    const auto honest = memory.get<std::array<uint8_t, 24>>(table);
    mutator.start(1, std::array{Surface::firmware}, 1);
    i2c(0x58, {0x00, 0x00}, 8);
    EXPECT_NE((memory.get<std::array<uint8_t, 24>>(table)), honest);
}

}  // namespace
}  // namespace gpuemu
