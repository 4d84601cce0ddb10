// SPDX-License-Identifier: GPL-2.0
// Purpose: lengths of SDMA packets, known and unknown.
#include "gpu-emu/ip/sdma/sdma_packets.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace gpuemu {
namespace {

uint64_t total(std::array<uint32_t, sdma::max_fixed_dwords> begin) {
    const auto length = sdma::length(begin);
    return length ? length->total() : 0;
}

TEST(SdmaPackets, Lengths) {
    EXPECT_EQ(total({0}), 1u);
    EXPECT_EQ(total({5u << 16}), 6u) << "a NOP of six dwords";
    EXPECT_EQ(total({1}), 7u);
    EXPECT_EQ(total({1 | 1u << 27}), 9u) << "broadcast";
    EXPECT_EQ(total({1 | 4u << 8}), 13u);
    EXPECT_EQ(total({2, 0, 0, 0}), 5u);
    EXPECT_EQ(total({2, 0, 0, 0xfffff}), 4u + 0x100000);
    EXPECT_EQ(total({2 | 1u << 8, 0, 0, 0, 0, 0, 0, 0, 3}), 13u) << "tiled";
    EXPECT_EQ(total({4}), 6u);
    EXPECT_EQ(total({8 | 3u << 8}), 13u);
    EXPECT_EQ(total({12}), 10u);
    EXPECT_EQ(total({12 | 1u << 8}), 8u);
    EXPECT_EQ(total({200}), 1u) << "unknown";
}

TEST(SdmaPackets, ShortBeginningsDoNotTell) {
    EXPECT_FALSE(sdma::length({}));
    const std::array<uint32_t, 3> write{2, 0, 0};
    EXPECT_FALSE(sdma::length(write));
}

TEST(SdmaPackets, EveryHeaderHasAnEnd) {
    std::array<uint32_t, sdma::max_fixed_dwords> begin;
    begin.fill(~0u);
    for (uint32_t header = 0; header <= std::numeric_limits<uint16_t>::max(); ++header) {
        begin[0] = header;
        const auto length = sdma::length(begin);
        ASSERT_TRUE(length) << header;
        ASSERT_GE(length->fixed, 1u);
        ASSERT_LE(length->fixed, sdma::max_fixed_dwords);
    }
}

}  // namespace
}  // namespace gpuemu
