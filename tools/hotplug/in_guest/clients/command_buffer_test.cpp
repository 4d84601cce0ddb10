// SPDX-License-Identifier: GPL-2.0
// Purpose: the packets, dword by dword.
// Thread: one.
#include "hotplug/in_guest/clients/command_buffer.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace hp::clients {
namespace {

class CommandBufferTest : public ::testing::Test {
protected:
    std::vector<std::uint32_t> written() const {
        return {memory_.begin(), memory_.begin() + commands_.size()};
    }

    std::array<std::uint32_t, 64> memory_{};
    CommandBuffer commands_{memory_.data()};
};

TEST_F(CommandBufferTest, WriteDataIsPaddedToTheRingsAlignment) {
    commands_.pm4_write_data(0x1'2345'6780, 0xabcd);
    commands_.pm4_pad();
    EXPECT_EQ(written(), (std::vector<std::uint32_t>{0xc0033700, 0x00100500, 0x23456780, 0x1,
                                                     0xabcd, 0xffff1000, 0xffff1000, 0xffff1000}));
}

TEST_F(CommandBufferTest, AWaitComparesTheWholeDwordInMemory) {
    commands_.pm4_wait(0x1'2345'6780, 7);
    EXPECT_EQ(written(),
              (std::vector<std::uint32_t>{0xc0053c00, 0x13, 0x23456780, 0x1, 7, 0xffffffff, 4}));
}

TEST_F(CommandBufferTest, AtomicsHaveNineDwordsAndCopiesSix) {
    commands_.pm4_atomic_add(0x1'0000'2000, 5);
    commands_.pm4_atomic_xor(0x1'0000'2004, 6);
    commands_.pm4_copy(0x1'0000'2000, 0x2'0000'3000);
    EXPECT_EQ(written(),
              (std::vector<std::uint32_t>{0xc0071e00, 0x0f,       0x2000, 1, 5,      0, 0, 0, 0,  //
                                          0xc0071e00, 0x17,       0x2004, 1, 6,      0, 0, 0, 0,  //
                                          0xc0044000, 0x00100501, 0x2000, 1, 0x3000, 2}));
}

TEST_F(CommandBufferTest, PaddingOfAFullBufferAddsNothing) {
    commands_.pm4_pad();
    EXPECT_EQ(commands_.size(), 0u);
}

TEST_F(CommandBufferTest, FillAndCopyCountBytesLessOne) {
    commands_.sdma_fill(0x2'0000'1000, 0x55, 8192);
    commands_.sdma_copy(0x2'0000'1000, 0x3'0000'2000, 8192);
    commands_.sdma_pad();
    EXPECT_EQ(written(), (std::vector<std::uint32_t>{11, 0x1000, 0x2, 0x55, 8191, 1, 8191, 0,
                                                     0x1000, 0x2, 0x2000, 0x3, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace hp::clients
