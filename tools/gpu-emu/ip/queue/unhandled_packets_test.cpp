// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/ip/queue/unhandled_packets.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gpuemu {
namespace {

TEST(UnhandledPackets, TellsHowOftenOfEach) {
    UnhandledPackets unhandled("mec");
    EXPECT_EQ(unhandled.describe(), "");
    unhandled.note("unknown", 0x10);
    unhandled.note("unknown", 0x10);
    unhandled.note("short", 0x11);
    EXPECT_EQ(unhandled.count("unknown", 0x10), 2u);
    EXPECT_EQ(unhandled.describe(),
              "mec unknown opcode 0x10: 2 times\nmec short opcode 0x11: 1 times\n");
}

TEST(UnhandledPackets, AGuestThatSendsRubbishMakesNoLongText) {
    UnhandledPackets unhandled("mec");
    for (const char* what : {"unknown", "short", "refused"}) {
        for (unsigned opcode = 0; opcode < 256; ++opcode) {
            unhandled.note(what, static_cast<uint8_t>(opcode));
        }
    }
    unhandled.note("short", 0xff);
    const std::string text = unhandled.describe();
    EXPECT_EQ(std::ranges::count(text, '\n'), UnhandledPackets::most_described + 1);
    EXPECT_TRUE(text.starts_with("mec short opcode 0xff: 2 times\n")) << "the most frequent first";
    EXPECT_TRUE(text.ends_with("mec 752 other kinds: 752 times\n"));
}

}  // namespace
}  // namespace gpuemu
