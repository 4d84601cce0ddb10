// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of RegisterFile.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/device/register_file.h"

#include <gtest/gtest.h>

namespace gpuemu {
namespace {

constexpr uint64_t window = 0x1000;

TEST(RegisterFile, StoresWithoutHandlerAndCountsUnknownReadsOnly) {
    RegisterFile registers(window);
    EXPECT_EQ(registers.read(5), 0u);
    EXPECT_EQ(registers.read(5), 0u);
    registers.write(6, 42);
    EXPECT_EQ(registers.read(6), 42u);
    registers.raw(7) = 0;
    EXPECT_EQ(registers.read(7), 0u);
    ASSERT_EQ(registers.unknown_reads().size(), 1u);
    EXPECT_EQ(registers.unknown_reads().at(5 * 4), 2u);
}

TEST(RegisterFile, WriteHandlerSeesStoredValueAndReadHandlerReplacesStorage) {
    RegisterFile registers(window);
    uint32_t seen = 0;
    registers.declare(
        8, 1,
        {.read = [](uint32_t dword) { return dword * 100; },
         .written = [&](uint32_t dword, uint32_t value) { seen = registers.raw(dword) + value; }});
    registers.write(8, 3);
    EXPECT_EQ(seen, 6u);
    EXPECT_EQ(registers.read(8), 800u);
    EXPECT_EQ(registers.raw(8), 3u);
    EXPECT_TRUE(registers.unknown_reads().empty());
}

TEST(RegisterFile, RefusesToDeclareTwiceAndOutside) {
    RegisterFile registers(window);
    registers.declare(10, 4, {.type = read_only});
    EXPECT_THROW(registers.declare(13, 1, {.type = trigger}), std::logic_error);
    EXPECT_THROW(registers.declare(9, 2, {}), std::logic_error);
    EXPECT_NO_THROW(registers.declare(14, 1, {}));
    EXPECT_THROW(registers.declare(window / 4, 1, {}), std::logic_error);
    EXPECT_THROW(registers.declare(window / 4 - 1, ~0u, {}), std::logic_error);
}

TEST(RegisterFile, FarSpaceStartsWhereTheWindowEnds) {
    RegisterFile registers(window);
    registers.write_far(0x20, 1);
    EXPECT_EQ(registers.read(8), 1u);
    registers.write(window / 4 + 1, 7);
    EXPECT_EQ(registers.read_far(window + 4), 7u);
    registers.preset_far(0x5'0000'0000, 9);
    EXPECT_EQ(registers.read_far(0x5'0000'0000), 9u);
    EXPECT_EQ(registers.read_far(0x6'0000'0000), 0u);
    EXPECT_EQ(registers.unknown_reads().count(0x6'0000'0000), 1u);
}

TEST(RegisterFile, ClearForgetsValuesAndKeepsHandlers) {
    RegisterFile registers(window);
    registers.declare(1, 1, {.read = [](uint32_t) { return 11u; }});
    registers.write(2, 22);
    registers.write_far(0x9'0000, 33);
    registers.clear();
    EXPECT_EQ(registers.read(1), 11u);
    EXPECT_EQ(registers.read(2), 0u);
    EXPECT_EQ(registers.read_far(0x9'0000), 0u);
    EXPECT_EQ(registers.unknown_reads().size(), 2u) << "since then";
    registers.clear();
    EXPECT_TRUE(registers.unknown_reads().empty());
}

TEST(RegisterFile, ClearOfAFewMakesThemKnownZeroesWithoutEffect) {
    RegisterFile registers(window);
    int effects = 0;
    registers.declare(9, 1, {.written = [&](uint32_t, uint32_t) { ++effects; }});
    for (uint32_t dword = 7; dword < 12; ++dword) {
        registers.raw(dword) = dword;
    }
    registers.clear(8, 3);
    EXPECT_EQ(registers.read(7), 7u);
    for (const uint32_t dword : {8u, 9u, 10u}) {
        EXPECT_EQ(registers.read(dword), 0u);
    }
    EXPECT_EQ(registers.read(11), 11u);
    EXPECT_EQ(effects, 0);
    registers.clear(20, 2);
    EXPECT_EQ(registers.read(21), 0u);
    EXPECT_TRUE(registers.unknown_reads().empty());
    EXPECT_THROW(registers.clear(window / 4 - 1, 2), std::out_of_range);
    EXPECT_THROW(registers.clear(1, ~0u), std::out_of_range);
}

TEST(RegisterFile, ReadOnlyKeepsItsValueAndNotesWhoWritesIt) {
    RegisterFile registers(window);
    int effects = 0;
    registers.declare(8, 2, {.type = read_only, .written = [&](uint32_t, uint32_t) { ++effects; }});
    registers.raw(8) = 0x12;
    registers.write(8, 0x34);
    registers.write(8, 0x12);
    EXPECT_EQ(registers.read(8), 0x12u);
    EXPECT_EQ(effects, 0);
    EXPECT_EQ(registers.read_only_writes(), (RegisterFile::Noted{{8 * 4, 2}}));
    registers.clear();
    EXPECT_TRUE(registers.read_only_writes().empty());
}

TEST(RegisterFile, BitsKeepWhatTheirTypeSays) {
    RegisterFile registers(window);
    uint32_t asked = 0;
    registers.declare(8, 1,
                      {.type = {.writable = 0x0f, .self_clearing = 0xf0},
                       .written = [&](uint32_t, uint32_t value) { asked = value; }});
    registers.raw(8) = 0xabc'0001;
    registers.write(8, 0x123'0f3c);
    EXPECT_EQ(asked, 0x123'0f3cu);
    EXPECT_EQ(registers.read(8), 0xabc'000cu) << "written, read-only, and self-clearing";
    EXPECT_TRUE(registers.read_only_writes().empty()) << "some of it can be written";
}

TEST(RegisterFile, ATriggerReadsAsZero) {
    RegisterFile registers(window);
    uint32_t asked = 0;
    registers.declare(
        8, 1, {.type = trigger, .written = [&](uint32_t, uint32_t value) { asked = value; }});
    registers.write(8, 5);
    EXPECT_EQ(asked, 5u);
    EXPECT_EQ(registers.read(8), 0u);
}

TEST(RegisterFile, OnlyAWriteThatDoesSomethingHasAnEffect) {
    RegisterFile registers(window);
    registers.declare(8, 1, {.type = with_self_clearing(1)});
    registers.declare(9, 1, {.written = [](uint32_t, uint32_t) {}});
    EXPECT_FALSE(registers.has_effect(7));
    EXPECT_FALSE(registers.has_effect(8));
    EXPECT_TRUE(registers.has_effect(9));
    EXPECT_FALSE(registers.has_effect(window / 4));
}

/// SMN has 2^38 addresses, and a guest reads where it likes.
TEST(RegisterFile, WhatIsUnknownIsRememberedWithinBounds) {
    RegisterFile registers(window);
    constexpr uint64_t many = 100'000;
    for (uint64_t index = 0; index < many; ++index) {
        registers.read_far(0x5'0000'0000 + 4 * index);
    }
    EXPECT_LE(registers.unknown_reads().size(), 4096u);
    registers.read_far(0x5'0000'0000);
    EXPECT_EQ(registers.unknown_reads().at(0x5'0000'0000), 2u) << "the first ones stay";
}

TEST(RegisterFile, Raw64JoinsNeighboursLowFirst) {
    RegisterFile registers(window);
    registers.raw(4) = 0x11111111;
    registers.raw(5) = 0x22222222;
    EXPECT_EQ(registers.raw64(4), 0x2222222211111111ull);
    EXPECT_THROW(registers.raw(window / 4), std::out_of_range);
}

}  // namespace
}  // namespace gpuemu
