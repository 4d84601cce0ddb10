// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of Ras: the banks are taken apart as aca_v1_0.c does.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/ip/ras.h"

#include <gtest/gtest.h>

#include "gpu-emu/testing/test_memory.h"

namespace gpuemu {
namespace {

uint64_t bank_register(const AcaBankList& list, uint32_t bank, uint32_t index) {
    const uint32_t argument = bank << 16 | index * 8;
    return list.dump(argument) | uint64_t{list.dump(argument + 4)} << 32;
}
bool bit(uint64_t value, unsigned number) {
    return (value >> number & 1) != 0;
}

class RasTest : public testing::Test {
protected:
    RecordingSink sink;
    int fatal_errors = 0;
    Ras ras{{sink, [this] { ++fatal_errors; }}};
};

TEST_F(RasTest, CorrectableUmcErrorIsCountedWithoutAnEvent) {
    ras.inject(RasBlock::umc, RasSeverity::correctable);
    EXPECT_EQ(ras.uncorrected().query(), 0u);
    ASSERT_EQ(ras.corrected().query(), 1u);
    const uint64_t status = bank_register(ras.corrected(), 0, 1);
    EXPECT_TRUE(bit(status, 63) && bit(status, 46));                      // valid, CECC
    EXPECT_FALSE(bit(status, 61) || bit(status, 44) || bit(status, 57));  // UC, deferred, PCC
    const uint64_t ipid = bank_register(ras.corrected(), 0, 5);
    EXPECT_EQ(ipid >> 32 & 0xfff, 0x96u);
    EXPECT_EQ(ipid >> 48, 0u);
    EXPECT_EQ(bank_register(ras.corrected(), 0, 3) >> 32 & 0xfff, 1u);  // error count
    EXPECT_TRUE(sink.entries.empty());
    EXPECT_EQ(fatal_errors, 0);
    EXPECT_EQ(ras.corrected().query(), 0u);  // read once
}

TEST_F(RasTest, UncorrectableErrorIsFatal) {
    ras.inject(RasBlock::gfx, RasSeverity::uncorrectable);
    EXPECT_EQ(fatal_errors, 1);
    EXPECT_EQ(ras.corrected().query(), 0u);
    ASSERT_EQ(ras.uncorrected().query(), 1u);
    const uint64_t status = bank_register(ras.uncorrected(), 0, 1);
    EXPECT_TRUE(bit(status, 63) && bit(status, 61) && bit(status, 57));
    const uint64_t ipid = bank_register(ras.uncorrected(), 0, 5);
    EXPECT_EQ(ipid >> 48, 1u);
    EXPECT_EQ(ipid >> 32 & 0xfff, 1u);
    EXPECT_EQ(ipid & 0xfffffffe, 0x36430400u);
}

TEST_F(RasTest, UmcPoisonIsDeferredAndTellsTheDriver) {
    ras.inject(RasBlock::umc, RasSeverity::poison);
    ASSERT_EQ(ras.corrected().query(), 1u);
    const uint64_t status = bank_register(ras.corrected(), 0, 1);
    EXPECT_TRUE(bit(status, 44) && bit(status, 58));  // deferred, address valid
    EXPECT_NE(bank_register(ras.corrected(), 0, 2), 0u);
    ASSERT_EQ(sink.entries.size(), 1u);
    EXPECT_EQ(sink.entries[0].client_id, 0x17);
    EXPECT_EQ(sink.entries[0].source_id, 0);
    EXPECT_EQ(fatal_errors, 0);
}

TEST_F(RasTest, SdmaPoisonIsAnEccInterruptOfTheEngine) {
    ras.inject(RasBlock::sdma, RasSeverity::poison);
    ASSERT_EQ(ras.corrected().query(), 1u);
    EXPECT_TRUE(bit(bank_register(ras.corrected(), 0, 1), 43));
    EXPECT_EQ(bank_register(ras.corrected(), 0, 5) & 0xfffffffe, 0x03b30400u);
    EXPECT_EQ(bank_register(ras.corrected(), 0, 6) & 0xff, 33u);  // CODE_SDMA0
    ASSERT_EQ(sink.entries.size(), 1u);
    EXPECT_EQ(sink.entries[0].client_id, 0x08);
    EXPECT_EQ(sink.entries[0].source_id, 228);
}

TEST_F(RasTest, SuccessiveUmcErrorsAreInOtherRows) {
    ras.inject(RasBlock::umc, RasSeverity::poison);
    ras.inject(RasBlock::umc, RasSeverity::poison);
    ASSERT_EQ(ras.corrected().query(), 2u);
    EXPECT_NE(bank_register(ras.corrected(), 0, 2), bank_register(ras.corrected(), 1, 2));
}

TEST_F(RasTest, AQueryNeverSaysMoreThanTheDriverTakes) {
    for (int count = 0; count < 30; ++count) {
        ras.inject(RasBlock::umc, RasSeverity::correctable);
    }
    EXPECT_EQ(ras.corrected().query(), 11u);
    EXPECT_EQ(ras.corrected().query(), 11u);
    EXPECT_EQ(ras.corrected().query(), 8u);
    EXPECT_EQ(ras.corrected().query(), 0u);
}

TEST_F(RasTest, DumpOutsideIsZero) {
    ras.inject(RasBlock::umc, RasSeverity::correctable);
    EXPECT_EQ(ras.corrected().dump(8), 0u);  // nothing taken yet
    ASSERT_EQ(ras.corrected().query(), 1u);
    EXPECT_EQ(ras.corrected().dump(1u << 16 | 8), 0u);
    EXPECT_EQ(ras.corrected().dump(0xfffc), 0u);
}

TEST_F(RasTest, UnknownNamesAreOneClearError) {
    const auto block = parse_ras_block("vcn");
    ASSERT_FALSE(block);
    EXPECT_NE(block.error().message.find("umc, gfx or sdma"), std::string::npos);
    const auto severity = parse_ras_severity("bad");
    ASSERT_FALSE(severity);
    EXPECT_NE(severity.error().message.find("'bad'"), std::string::npos);
    EXPECT_EQ(parse_ras_block("sdma"), RasBlock::sdma);
    EXPECT_EQ(parse_ras_severity("poison"), RasSeverity::poison);
}

TEST_F(RasTest, PowerOnForgets) {
    ras.inject(RasBlock::umc, RasSeverity::uncorrectable);
    ras.power_on();
    EXPECT_EQ(ras.uncorrected().query(), 0u);
}

}  // namespace
}  // namespace gpuemu
