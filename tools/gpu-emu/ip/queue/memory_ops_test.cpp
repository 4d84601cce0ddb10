// SPDX-License-Identifier: GPL-2.0
// Purpose: bulk copies, fills and atomics: boundaries, budgets, faults.
#include "gpu-emu/ip/queue/memory_ops.h"

#include <gtest/gtest.h>

#include <optional>

#include "gpu-emu/testing/cp_bench.h"

namespace gpuemu {
namespace {

class MemoryOps : public testing::TestWithParam<int64_t> {
protected:
    template <typename Operation>
    int turns_until_done(Operation operation) {
        uint64_t progress = 0;
        for (int turns = 1; turns < 100'000; ++turns) {
            Budget budget{.packets = 1, .bytes = GetParam()};
            if (operation(progress, budget) == Step::done) {
                return turns;
            }
            EXPECT_LE(budget.bytes, 0) << "stopped with budget left";
        }
        return -1;
    }

    test::PlainMemory memory;
    Port port{memory, Hub::mm, 2};
};

TEST_P(MemoryOps, CopiesAcrossWindowBoundaries) {
    constexpr uint64_t bytes = 9001;  // three pages and a bit, both ends unaligned
    for (uint64_t i = 0; i < bytes + 7; ++i) {
        const auto value = static_cast<std::byte>(i * 7 + i / 256);
        port.write(0x1ffd + i, {&value, 1});
    }
    ASSERT_GT(turns_until_done([&](uint64_t& progress, Budget& budget) {
                  return copy_bytes(port, 0x1ffd, 0x8003, bytes, progress, budget);
              }),
              0);
    for (uint64_t i = 0; i < bytes; ++i) {
        std::byte source{}, copy{};
        port.read(0x1ffd + i, {&source, 1});
        port.read(0x8003 + i, {&copy, 1});
        ASSERT_EQ(source, copy) << "byte " << i;
    }
    EXPECT_EQ(memory.at32(0x8003 + bytes, 2) & 0xff, 0u) << "wrote beyond the end";
}

TEST_P(MemoryOps, FillsWithADwordPattern) {
    constexpr uint64_t bytes = 5002;  // ends in the middle of a dword
    ASSERT_GT(turns_until_done([&](uint64_t& progress, Budget& budget) {
                  return fill_bytes(port, 0x1ff0, 0x44332211, bytes, progress, budget);
              }),
              0);
    EXPECT_EQ(memory.at32(0x1fec, 2), 0u);
    for (uint64_t at = 0; at + 4 <= bytes; at += 4) {
        ASSERT_EQ(memory.at32(0x1ff0 + at, 2), 0x44332211u) << "at " << at;
    }
    EXPECT_EQ(memory.at32(0x1ff0 + 5000, 2), 0x2211u);
}

TEST_P(MemoryOps, AFaultInTheMiddleEndsACopy) {
    memory.break_page(2, 0x9000);
    port.write32(0x2000, 0x12345678);
    ASSERT_GT(turns_until_done([&](uint64_t& progress, Budget& budget) {
                  return copy_bytes(port, 0x2000, 0x8000, 0x3000, progress, budget);
              }),
              0);
    EXPECT_EQ(memory.at32(0x8000, 2), 0x12345678u);
    EXPECT_EQ(memory.faults, 1u);
}

INSTANTIATE_TEST_SUITE_P(Budgets, MemoryOps, testing::Values(1, 64, 1000, 1 << 20));

TEST(Compare, KnowsAllFunctions) {
    EXPECT_TRUE(compare(0, 1, 2));
    EXPECT_TRUE(compare(1, 1, 2));
    EXPECT_FALSE(compare(1, 2, 2));
    EXPECT_TRUE(compare(2, 2, 2));
    EXPECT_TRUE(compare(3, 2, 2));
    EXPECT_FALSE(compare(3, 1, 2));
    EXPECT_TRUE(compare(4, 1, 2));
    EXPECT_TRUE(compare(5, 2, 2));
    EXPECT_FALSE(compare(5, 1, 2));
    EXPECT_TRUE(compare(6, 3, 2));
    EXPECT_FALSE(compare(6, 2, 2));
}

class Atomic : public testing::Test {
protected:
    /// New value after `op` on `start`.
    uint64_t after(uint32_t op, uint64_t start, uint64_t source, uint64_t comparand = 0) {
        memory.put64(0x100, start);
        old = atomic(port, op, 0x100, source, comparand);
        return memory.at64(0x100);
    }

    test::PlainMemory memory;
    Port port{memory, Hub::gfx, 0};
    std::optional<uint64_t> old;
};

TEST_F(Atomic, Wide) {
    constexpr uint64_t minus_one = ~uint64_t{0};
    EXPECT_EQ(after(0x2f, 5, minus_one), 4u);  // ADD_RTN_64
    EXPECT_EQ(old, 5u);
    EXPECT_EQ(after(0x6f, minus_one, 2), 1u);         // ADD_64, without return
    EXPECT_EQ(after(0x27, 5, 9), 9u);                 // SWAP
    EXPECT_EQ(after(0x28, 5, 9, 5), 9u);              // CMPSWAP that hits
    EXPECT_EQ(after(0x28, 5, 9, 6), 5u);              // and one that does not
    EXPECT_EQ(after(0x30, 5, 7), minus_one - 1);      // SUB
    EXPECT_EQ(after(0x31, 5, minus_one), minus_one);  // SMIN
    EXPECT_EQ(after(0x32, 5, minus_one), 5u);         // UMIN
    EXPECT_EQ(after(0x33, 5, minus_one), 5u);         // SMAX
    EXPECT_EQ(after(0x34, 5, minus_one), minus_one);  // UMAX
    EXPECT_EQ(after(0x35, 0b1100, 0b1010), 0b1000u);  // AND
    EXPECT_EQ(after(0x36, 0b1100, 0b1010), 0b1110u);  // OR
    EXPECT_EQ(after(0x37, 0b1100, 0b1010), 0b0110u);  // XOR
    EXPECT_EQ(after(0x38, 7, 7), 0u);                 // INC wraps at its source
    EXPECT_EQ(after(0x38, 6, 7), 7u);
    EXPECT_EQ(after(0x39, 0, 7), 7u);  // DEC wraps to its source
    EXPECT_EQ(after(0x39, 7, 7), 6u);
}

TEST_F(Atomic, NarrowLeavesTheNeighbourAlone) {
    EXPECT_EQ(after(0x0f, 0x1'ffff'ffff, 1), 0x1'0000'0000u);
    EXPECT_EQ(old, 0xffff'ffffu);
    EXPECT_EQ(after(0x11, 5, 0xffff'fffe), 0xffff'fffeu) << "signed in 32 bits";
}

TEST_F(Atomic, SatisfactionLooksAtTheOperandWidth) {
    EXPECT_TRUE(is_satisfied(0x08, 0x1'0000'0005, 5));
    EXPECT_FALSE(is_satisfied(0x28, 0x1'0000'0005, 5));
    EXPECT_TRUE(is_satisfied(0x2f, 1, 2)) << "only compare and swap can miss";
}

TEST_F(Atomic, KnowsWhatItCannotDo) {
    EXPECT_TRUE(is_integer_atomic(0x2f));
    EXPECT_TRUE(is_integer_atomic(0x4f));
    EXPECT_FALSE(is_integer_atomic(0x02));  // FMIN
    EXPECT_FALSE(is_integer_atomic(0x1a));  // a cache operation
    memory.break_page(0, 0x1000);
    EXPECT_FALSE(atomic(port, 0x2f, 0x1000, 1, 0));
}

}  // namespace
}  // namespace gpuemu
