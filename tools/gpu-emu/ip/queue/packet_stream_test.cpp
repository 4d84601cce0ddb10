// SPDX-License-Identifier: GPL-2.0
// Purpose: PacketStream: wrap-around, indirect buffers, pointers that make no sense.
#include "gpu-emu/ip/queue/packet_stream.h"

#include <gtest/gtest.h>

#include <array>

#include "gpu-emu/testing/cp_bench.h"

namespace gpuemu {
namespace {

class PacketStreamTest : public testing::Test {
protected:
    PacketStreamTest() {
        stream.set_ring(0x1000, 16, 3);
        for (uint32_t dword = 0; dword < 16; ++dword) {
            memory.put(0x1000 + dword * 4, {100 + dword}, 3);
            memory.put(0x2000 + dword * 4, {200 + dword}, 5);
        }
    }

    test::PlainMemory memory;
    PacketStream stream;
};

TEST_F(PacketStreamTest, ReadsAcrossTheEndOfTheRing) {
    stream.set_pointers(14, 18);
    std::array<uint32_t, 4> out{};
    ASSERT_TRUE(stream.fetch(memory, Hub::gfx, 0, out));
    EXPECT_EQ(out, (std::array<uint32_t, 4>{114, 115, 100, 101}));
    stream.skip(3);
    EXPECT_EQ(stream.ring_position(), 1u);
    EXPECT_EQ(stream.rptr(), 17u);
}

TEST_F(PacketStreamTest, NeverReadsBeyondWhatIsPending) {
    stream.set_pointers(0, 2);
    std::array<uint32_t, 3> out{};
    EXPECT_FALSE(stream.fetch(memory, Hub::gfx, 0, out));
    EXPECT_FALSE(stream.fetch(memory, Hub::gfx, ~uint64_t{0}, std::span(out).first(1)));
    stream.skip(1000);
    EXPECT_TRUE(stream.empty());
    EXPECT_EQ(stream.rptr(), 2u);
}

TEST_F(PacketStreamTest, AWritePointerFarAwayCountsModuloTheRing) {
    stream.set_pointers(4, 4);
    stream.set_wptr(4 + 16);
    EXPECT_EQ(stream.available(), 16u) << "a full ring is a full ring";
    stream.set_wptr(~uint64_t{0});
    EXPECT_EQ(stream.available(), 11u);
    stream.set_wptr(1);
    EXPECT_EQ(stream.available(), 13u) << "behind the reader";
}

TEST_F(PacketStreamTest, RunsAnIndirectBufferAndReturns) {
    stream.set_pointers(0, 2);
    stream.skip(1);
    stream.enter({0x2000, 3, 5});
    EXPECT_TRUE(stream.in_ib());
    EXPECT_EQ(stream.vmid(), 5u);
    std::array<uint32_t, 2> out{};
    stream.skip(1);
    ASSERT_TRUE(stream.fetch(memory, Hub::gfx, 0, out));
    EXPECT_EQ(out[0], 201u);
    stream.skip(2);
    EXPECT_FALSE(stream.in_ib());
    EXPECT_EQ(stream.vmid(), 3u);
    EXPECT_EQ(stream.available(), 1u);
}

TEST_F(PacketStreamTest, AnEmptyBufferIsNotEntered) {
    stream.set_pointers(0, 0);
    stream.enter({0x2000, 0, 5});
    EXPECT_FALSE(stream.in_ib());
    EXPECT_TRUE(stream.empty());
}

TEST_F(PacketStreamTest, ComesBackFromABufferCalledByABuffer) {
    stream.set_pointers(0, 1);
    stream.enter({0x2000, 4, 5});
    stream.skip(2);
    stream.call({0x3000, 3, 5});
    EXPECT_TRUE(stream.in_ib2());
    EXPECT_EQ(stream.available(), 3u);
    stream.skip(1);
    stream.enter({0x3800, 2, 5});
    EXPECT_TRUE(stream.in_ib2()) << "a chain replaces the called one only";
    stream.skip(2);
    EXPECT_TRUE(stream.in_ib());
    EXPECT_FALSE(stream.in_ib2());
    std::array<uint32_t, 2> out{};
    ASSERT_TRUE(stream.fetch(memory, Hub::gfx, 0, out));
    EXPECT_EQ(out[0], 202u);
    stream.skip(2);
    EXPECT_FALSE(stream.in_ib());
    EXPECT_EQ(stream.available(), 1u);
}

TEST_F(PacketStreamTest, ACallAtTheEndOfABufferComesBackToTheRing) {
    stream.set_pointers(0, 1);
    stream.enter({0x2000, 2, 5});
    stream.skip(2);
    stream.call({0x3000, 3, 5});
    EXPECT_TRUE(stream.in_ib());
    EXPECT_FALSE(stream.in_ib2());
    stream.skip(3);
    EXPECT_FALSE(stream.in_ib());
}

TEST_F(PacketStreamTest, AnEmptyOrBrokenCallComesBackAtOnce) {
    stream.set_pointers(0, 0);
    stream.enter({0x2000, 4, 5});
    stream.call({0x3000, 0, 5});
    EXPECT_FALSE(stream.in_ib2());
    EXPECT_EQ(stream.available(), 4u);
    stream.call({0x3000, 2, 5});
    stream.enter({0x3800, 0, 5});  // a chain to nothing
    EXPECT_EQ(stream.available(), 4u);
    stream.call({0x3000, 2, 5});
    EXPECT_TRUE(stream.drop_if_endless(3));
    EXPECT_EQ(stream.available(), 4u);
    stream.call({0x3000, 2, 5});
    stream.leave_ib();
    EXPECT_EQ(stream.available(), 4u);
    stream.call({0x3000, 2, 5});
    stream.set_pointers(0, 0);
    EXPECT_TRUE(stream.empty());
}

TEST_F(PacketStreamTest, ThrowsAwayWhatCanNeverBeComplete) {
    stream.set_pointers(0, 4);
    EXPECT_FALSE(stream.drop_if_endless(8)) << "the rest may still be written";
    EXPECT_EQ(stream.available(), 4u);
    EXPECT_TRUE(stream.drop_if_endless(17)) << "longer than the ring";
    EXPECT_TRUE(stream.empty());
    stream.enter({0x2000, 3, 5});
    EXPECT_TRUE(stream.drop_if_endless(4));
    EXPECT_FALSE(stream.in_ib());
}

TEST_F(PacketStreamTest, ReportsAFault) {
    memory.break_page(3, 0x1000);
    stream.set_pointers(0, 4);
    std::array<uint32_t, 1> out{};
    EXPECT_FALSE(stream.fetch(memory, Hub::gfx, 0, out));
}

TEST(PacketStream, WithoutARingNothingIsPending) {
    PacketStream stream;
    stream.set_wptr(100);
    EXPECT_TRUE(stream.empty());
    EXPECT_EQ(stream.ring_position(), 0u);
}

}  // namespace
}  // namespace gpuemu
