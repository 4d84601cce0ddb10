// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/loss/black_hole.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace gpuemu {
namespace {

Profile small_gpu() {
    Profile profile;
    profile.vram_bytes = 1 << 20;
    profile.doorbell_bar_bytes = 1 << 16;
    profile.register_bar_bytes = 1 << 18;
    return profile;
}

class BlackHoleTest : public testing::Test {
protected:
    uint32_t read(Region region, uint64_t offset) {
        std::array<std::byte, 4> raw{};
        hole.read(region, offset, raw);
        uint32_t value = 0;
        std::memcpy(&value, raw.data(), sizeof value);
        return value;
    }
    void write(Region region, uint64_t offset, uint32_t value) {
        std::array<std::byte, 4> raw{};
        std::memcpy(raw.data(), &value, sizeof value);
        hole.write(region, offset, raw);
    }

    BlackHole hole{small_gpu()};
};

TEST_F(BlackHoleTest, HasTheBarsOfTheGpuAndAnotherIdentity) {
    EXPECT_EQ(hole.region_info(Region::bar0).size, 1u << 20);
    EXPECT_EQ(hole.region_info(Region::bar2).size, 1u << 16);
    EXPECT_EQ(hole.region_info(Region::bar5).size, 1u << 18);
    EXPECT_EQ(hole.region_info(Region::bar1).size, 0u);
    EXPECT_LT(hole.region_info(Region::bar0).mmap_fd, 0) << "every access is seen";
    EXPECT_EQ(read(Region::config, 0), 0xbbbb1b36u);
    EXPECT_EQ(read(Region::config, 8), 0xff000000u);
    write(Region::config, 0x24, ~0u);
    EXPECT_EQ(read(Region::config, 0x24), 0xfffc0000u);
}

TEST_F(BlackHoleTest, AnswersOnesAndKeepsNothing) {
    for (const Region region : {Region::bar0, Region::bar2, Region::bar5}) {
        write(region, 0, 0);
        EXPECT_EQ(read(region, 0), ~0u);
    }
}

TEST_F(BlackHoleTest, IsColdForEveryClient) {
    write(Region::config, 0x24, 0xfe000000);
    hole.reset();
    EXPECT_EQ(read(Region::config, 0x24), 0u);
}

}  // namespace
}  // namespace gpuemu
