// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of Eeprom.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/ip/eeprom.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <system_error>

namespace gpuemu {
namespace {

constexpr uint8_t ras_device = 0x54;  // bits 18 to 16: 0x40000

void put(Eeprom& eeprom, std::initializer_list<uint8_t> bytes) {
    for (const uint8_t byte : bytes) {
        eeprom.put(byte);
    }
}

std::string temporary_path() {
    return (std::filesystem::temp_directory_path() /
            ("eeprom_test." + std::to_string(::getpid()) + ".bin"))
        .string();
}

TEST(Eeprom, IsBlankAndAnswersItsAddressesOnly) {
    Eeprom eeprom("", {});
    EXPECT_TRUE(eeprom.start(0x50));
    EXPECT_TRUE(eeprom.start(0x57));
    EXPECT_FALSE(eeprom.start(0x58));
    EXPECT_FALSE(eeprom.start(0x10));
    EXPECT_EQ(eeprom.get(), 0xff);
}

TEST(Eeprom, ReadsBackWhatWasWrittenAtItsPlace) {
    Eeprom eeprom("", {});
    ASSERT_TRUE(eeprom.start(ras_device));
    put(eeprom, {0x12, 0x34, 0xaa, 0xbb});
    ASSERT_TRUE(eeprom.start(ras_device));
    put(eeprom, {0x12, 0x34});
    EXPECT_EQ(eeprom.get(), 0xaa);
    EXPECT_EQ(eeprom.get(), 0xbb);
    EXPECT_EQ(eeprom.contents()[0x41234], std::byte{0xaa});
}

TEST(Eeprom, WritesWrapInThePageReadsGoOn) {
    Eeprom eeprom("", {});
    ASSERT_TRUE(eeprom.start(0x50));
    put(eeprom, {0x01, 0xff, 1, 2});
    EXPECT_EQ(eeprom.contents()[0x1ff], std::byte{1});
    EXPECT_EQ(eeprom.contents()[0x100], std::byte{2});
    ASSERT_TRUE(eeprom.start(0x57));
    put(eeprom, {0xff, 0xff});
    eeprom.get();
    EXPECT_EQ(eeprom.get(), 0xff);  // address 0 again
}

TEST(Eeprom, PowerOnBlanksMemoryAndKeepsFiles) {
    Eeprom memory("", {});
    ASSERT_TRUE(memory.start(0x50));
    put(memory, {0, 0, 7});
    memory.power_on();
    EXPECT_EQ(memory.contents()[0], std::byte{0xff});

    const std::string path = temporary_path();
    {
        Eeprom file(path, {});
        ASSERT_TRUE(file.start(0x50));
        put(file, {0, 0, 7});
        file.power_on();
        EXPECT_EQ(file.contents()[0], std::byte{7});
    }
    {
        const Eeprom again(path, {});
        EXPECT_EQ(again.contents()[0], std::byte{7});
        EXPECT_EQ(again.contents()[1], std::byte{0xff});
    }
    std::filesystem::remove(path);
}

TEST(Eeprom, FruIsReadAtItsOwnAddressAndNeverWritten) {
    Eeprom eeprom("", {std::byte{1}, std::byte{2}, std::byte{3}});
    ASSERT_TRUE(eeprom.start(ras_device));
    put(eeprom, {0x00, 0x01, 0xaa});
    ASSERT_TRUE(eeprom.start(Eeprom::fru_device));
    put(eeprom, {0x00, 0x01, 0x55});
    ASSERT_TRUE(eeprom.start(Eeprom::fru_device));
    put(eeprom, {0x00, 0x01});
    EXPECT_EQ(eeprom.get(), 2);
    EXPECT_EQ(eeprom.get(), 3);
    EXPECT_EQ(eeprom.get(), 0xff);
    eeprom.power_on();
    ASSERT_TRUE(eeprom.start(Eeprom::fru_device));
    EXPECT_EQ(eeprom.get(), 1);
    ASSERT_TRUE(eeprom.start(0x50));
    EXPECT_EQ(eeprom.get(), 0xff);
    EXPECT_EQ(eeprom.contents()[1], std::byte{0xff});
}

TEST(Eeprom, RefusesFilesItCannotUse) {
    EXPECT_THROW(Eeprom("/nonexistent-directory/eeprom", {}), std::system_error);
    const std::string path = temporary_path();
    std::ofstream(path) << "too short";
    EXPECT_THROW(Eeprom(path, {}), std::system_error);
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace gpuemu
