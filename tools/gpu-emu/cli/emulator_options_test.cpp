// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of what the command line of amdgpu-emu makes of a board.
// Thread: the test's.
#include "gpu-emu/cli/emulator_options.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace gpuemu {
namespace {

/// Throws what CLI11 or board_options() throws.
Board::Options board_of(const std::string& command_line) {
    EmulatorOptions options;
    CLI::App app;
    declare(app, options);
    app.parse("--profile mi300x --socket /nowhere " + command_line);
    return board_options(options);
}

TEST(EmulatorOptions, SerialIsTheBoardsEverywhere) {
    const Profile numbered = board_of("--serial 0xe01").profile;
    EXPECT_EQ(numbered.serial, 0xe01u);
    EXPECT_EQ(numbered.product.serial, "0000000000000E01");
    EXPECT_EQ(board_of("--serial 18446744073709551615").profile.product.serial, "FFFFFFFFFFFFFFFF");
    EXPECT_EQ(board_of("").profile.serial, 0u);
    EXPECT_EQ(board_of("").profile.product.serial, find_profile("mi300x")->product.serial);
}

TEST(EmulatorOptions, SerialThatIsNoneIsRefused) {
    for (const char* serial : {"0", "0x10000000000000000", "-1", "E01"}) {
        EXPECT_THROW(board_of(std::string("--serial=") + serial), std::runtime_error) << serial;
    }
    EXPECT_THROW(board_of("--serial 1 --black-hole"), std::runtime_error);
}

}  // namespace
}  // namespace gpuemu
