// SPDX-License-Identifier: GPL-2.0
// Purpose: PM4 header decoding.
#include "gpu-emu/ip/cp/pm4.h"

#include <gtest/gtest.h>

namespace gpuemu {
namespace {

TEST(Pm4, LengthOfPackets) {
    EXPECT_EQ(pm4::packet_dwords(pm4::header(pm4::PACKET3_WRITE_DATA, 4)), 5u);
    EXPECT_EQ(pm4::packet_dwords(0xffff1000), 1u) << "padding of the driver's rings";
    EXPECT_EQ(pm4::packet_dwords(0xc0001000), 2u) << "a NOP with one dword of data";
    EXPECT_EQ(pm4::packet_dwords(0x80000000), 1u) << "type 2";
    EXPECT_EQ(pm4::packet_dwords(0), 2u) << "zeroed memory looks like type 0";
}

TEST(Pm4, TheLongestPacketIsBounded) {
    EXPECT_EQ(pm4::packet_dwords(pm4::header(pm4::PACKET3_WRITE_DATA, 0x4000)),
              pm4::max_packet_dwords);
    EXPECT_EQ(pm4::packet_dwords(0x3fff0000), pm4::max_packet_dwords);
}

TEST(Pm4, HeadersAreThoseOfTheDriver) {
    EXPECT_EQ(pm4::header(pm4::PACKET3_WRITE_DATA, 4),
              0xc0033700u);  // PACKET3(PACKET3_WRITE_DATA, 3)
    EXPECT_EQ(pm4::header(pm4::PACKET3_RELEASE_MEM, 7), 0xc0064900u);
}

}  // namespace
}  // namespace gpuemu
