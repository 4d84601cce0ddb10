// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of the GpuMemory helpers on memory whose windows are eight bytes short of a page.
// Thread: the test's.
// Does not model: translation.
#include "gpu-emu/mem/gpu_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace gpuemu {
namespace {

/// 64 bytes, in windows that end at each multiple of 16.
class SmallWindows : public GpuMemory {
public:
    std::span<std::byte> window(Hub, unsigned, uint64_t va, uint64_t length, bool) override {
        if (va >= bytes.size() * 8) {
            return {};
        }
        auto all = std::as_writable_bytes(std::span(bytes));
        return all.subspan(va, std::min(length, 16 - va % 16));
    }
    std::span<std::byte> bus_window(uint64_t, uint64_t, bool) override { return {}; }

    std::vector<uint64_t> bytes = std::vector<uint64_t>(8);
};

TEST(GpuMemory, CopiesAcrossWindows) {
    SmallWindows memory;
    std::array<std::byte, 40> in{};
    for (std::size_t index = 0; index < in.size(); ++index) {
        in[index] = static_cast<std::byte>(index + 1);
    }
    ASSERT_TRUE(memory.write(Hub::gfx, 0, 5, in));
    std::array<std::byte, 40> out{};
    ASSERT_TRUE(memory.read(Hub::gfx, 0, 5, out));
    EXPECT_EQ(in, out);
}

TEST(GpuMemory, FaultInTheMiddleZeroesTheRestOfARead) {
    SmallWindows memory;
    std::ranges::fill(memory.bytes, ~0ull);
    std::array<std::byte, 16> out;
    out.fill(std::byte{0x5a});
    EXPECT_FALSE(memory.read(Hub::mm, 0, 56, out));
    EXPECT_EQ(out[7], std::byte{0xff});
    EXPECT_EQ(out[8], std::byte{0});
    EXPECT_FALSE(memory.write(Hub::mm, 0, 56, out));
}

TEST(GpuMemory, WordsAlignedAndNot) {
    SmallWindows memory;
    ASSERT_TRUE(memory.write64(Hub::gfx, 0, 8, 0x1122334455667788));
    EXPECT_EQ(memory.read64(Hub::gfx, 0, 8), 0x1122334455667788u);
    EXPECT_EQ(memory.read32(Hub::gfx, 0, 12), 0x11223344u);
    ASSERT_TRUE(memory.write32(Hub::gfx, 0, 14, 0xa1b2c3d4));  // crosses a window
    EXPECT_EQ(memory.read32(Hub::gfx, 0, 14), 0xa1b2c3d4u);
    EXPECT_FALSE(memory.read32(Hub::gfx, 0, 64).has_value());
    EXPECT_FALSE(memory.write64(Hub::gfx, 0, 64, 1));
    EXPECT_FALSE(memory.read64(Hub::gfx, 0, 60).has_value());  // half of it is not there
}

TEST(GpuMemory, AddsAtomicallyOrNotAtAll) {
    SmallWindows memory;
    memory.bytes[1] = 0xffffffff;
    EXPECT_EQ(memory.fetch_add32(Hub::gfx, 0, 8, 2), 0xffffffffu);
    EXPECT_EQ(memory.bytes[1], 1u);  // no carry out of 32 bits
    EXPECT_EQ(memory.fetch_add64(Hub::gfx, 0, 8, ~0ull), 1u);
    EXPECT_EQ(memory.bytes[1], 0u);
    EXPECT_FALSE(memory.fetch_add64(Hub::gfx, 0, 4, 1).has_value());
    EXPECT_FALSE(memory.fetch_add32(Hub::gfx, 0, 64, 1).has_value());
}

}  // namespace
}  // namespace gpuemu
