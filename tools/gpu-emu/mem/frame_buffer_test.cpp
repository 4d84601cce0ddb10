// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of FrameBuffer: which address is whose memory.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/mem/frame_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <vector>

namespace gpuemu {
namespace {

constexpr uint64_t mib = 1u << 20;

class FakePeers : public PeerMemory {
public:
    std::span<std::byte> window(unsigned node, uint64_t offset, uint64_t length,
                                bool write) override {
        asked.emplace_back(node, offset, length, write);
        return std::span(memory).first(std::min<uint64_t>(length, memory.size()));
    }

    std::vector<std::byte> memory = std::vector<std::byte>(64);
    std::vector<std::tuple<unsigned, uint64_t, uint64_t, bool>> asked;
};

TEST(FrameBuffer, OfAGpuAloneIsItsVram) {
    const Vram vram(mib);
    const FrameBuffer memory(vram);
    EXPECT_EQ(memory.size(), mib);
    EXPECT_EQ(memory.window(mib - 8, 64, true).data(), vram.window(mib - 8, 1).data());
    EXPECT_EQ(memory.window(mib - 8, 64, true).size(), 8u);
    EXPECT_TRUE(memory.window(mib, 1, false).empty());
    EXPECT_TRUE(memory.window(~0ull, 1, false).empty());
}

TEST(FrameBuffer, OfAHiveHasASegmentForEachNode) {
    const Vram vram(mib);
    FakePeers peers;
    const FrameBuffer memory(vram, {.nodes = 3, .node = 1, .segment_bytes = 16 * mib}, &peers);
    EXPECT_EQ(memory.size(), 48 * mib);
    EXPECT_EQ(memory.window(16 * mib + 4096, 8, true).data(), vram.window(4096, 1).data());
    EXPECT_TRUE(memory.window(17 * mib, 8, false).empty()) << "its segment is larger than its VRAM";
    EXPECT_TRUE(peers.asked.empty());

    EXPECT_EQ(memory.window(100, 8, true).data(), peers.memory.data());
    EXPECT_EQ(memory.window(47 * mib, 8, false).size(), 8u);
    EXPECT_EQ(memory.window(48 * mib - 4, 8, false).size(), 4u) << "cut at the end of the segment";
    EXPECT_TRUE(memory.window(48 * mib, 8, false).empty());
    EXPECT_TRUE(memory.window(~0ull, 8, false).empty());
    const decltype(peers.asked) expected{
        {0, 100, 8, true}, {2, 15 * mib, 8, false}, {2, 16 * mib - 4, 4, false}};
    EXPECT_EQ(peers.asked, expected);
}

TEST(FrameBuffer, ASeatThatIsNoneIsRefused) {
    const Vram vram(2 * mib);
    FakePeers peers;
    const HiveSeat good{.nodes = 2, .node = 1, .segment_bytes = 2 * mib};
    EXPECT_NO_THROW(FrameBuffer(vram, good, &peers));
    EXPECT_THROW(FrameBuffer(vram, good, nullptr), std::invalid_argument);
    HiveSeat behind = good;
    behind.node = 2;
    EXPECT_THROW(FrameBuffer(vram, behind, &peers), std::invalid_argument);
    HiveSeat narrow = good;
    narrow.segment_bytes = mib;
    EXPECT_THROW(FrameBuffer(vram, narrow, &peers), std::invalid_argument);
}

}  // namespace
}  // namespace gpuemu
