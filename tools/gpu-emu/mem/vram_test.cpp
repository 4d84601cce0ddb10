// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of Vram, with a second mapping in the part of the client.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/mem/vram.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>

namespace gpuemu {
namespace {

constexpr uint64_t mib = 1u << 20;

uint64_t host_bytes(const Vram& vram) {
    struct stat status {};
    EXPECT_EQ(::fstat(vram.fd(), &status), 0);
    return static_cast<uint64_t>(status.st_blocks) * 512;
}

TEST(Vram, WindowsEndWhereVramEnds) {
    const Vram vram(mib);
    EXPECT_EQ(vram.window(0, mib).size(), mib);
    EXPECT_EQ(vram.window(mib - 8, 64).size(), 8u);
    EXPECT_TRUE(vram.window(mib, 1).empty());
    EXPECT_TRUE(vram.window(~0ull, 1).empty());
}

TEST(Vram, FillReachesOnlyTouchedPagesAlsoThoseOfTheClient) {
    Vram vram(64 * mib);
    void* client = ::mmap(nullptr, 64 * mib, PROT_READ | PROT_WRITE, MAP_SHARED, vram.fd(), 0);
    ASSERT_NE(client, MAP_FAILED);
    auto* bytes = static_cast<unsigned char*>(client);
    vram.window(5 * mib, 1)[0] = std::byte{1};
    bytes[40 * mib + 17] = 1;
    const uint64_t before = host_bytes(vram);
    Vram::Fill fill;
    EXPECT_TRUE(vram.fill_resident_with_ones(fill, ~uint64_t{0}));
    EXPECT_EQ(bytes[5 * mib], 0xff);
    EXPECT_EQ(bytes[40 * mib], 0xff);
    EXPECT_EQ(host_bytes(vram), before);
    EXPECT_EQ(bytes[20 * mib], 0);  // touches the page: last
    ::munmap(client, 64 * mib);
}

TEST(Vram, FillOfUntouchedVramDoesNothing) {
    Vram vram(mib);
    Vram::Fill fill;
    EXPECT_TRUE(vram.fill_resident_with_ones(fill, ~uint64_t{0}));
    EXPECT_EQ(host_bytes(vram), 0u);
}

TEST(Vram, FillGoesInPiecesWhereThatIsAsked) {
    Vram vram(64 * mib);
    for (const uint64_t offset : {5 * mib, 40 * mib, 40 * mib + 4096}) {
        vram.window(offset, 1)[0] = std::byte{1};
    }
    const uint64_t before = host_bytes(vram);
    Vram::Fill fill;
    EXPECT_FALSE(vram.fill_resident_with_ones(fill, 4096));
    EXPECT_EQ(vram.window(5 * mib, 1)[0], std::byte{0xff});
    EXPECT_EQ(vram.window(40 * mib, 1)[0], std::byte{1}) << "not its turn yet";
    while (!vram.fill_resident_with_ones(fill, 4096)) {
    }
    EXPECT_EQ(vram.window(40 * mib, 1)[0], std::byte{0xff});
    EXPECT_EQ(vram.window(40 * mib + 4096, 1)[0], std::byte{0xff});
    EXPECT_EQ(host_bytes(vram), before);
    EXPECT_TRUE(vram.fill_resident_with_ones(fill, 4096));
}

TEST(Vram, CountsWordsWhoeverWroteThem) {
    Vram vram(64 * mib);
    EXPECT_EQ(vram.count_resident(0x600d600d), 0u);
    EXPECT_EQ(host_bytes(vram), 0u) << "a look touches nothing";
    void* client = ::mmap(nullptr, 64 * mib, PROT_READ | PROT_WRITE, MAP_SHARED, vram.fd(), 0);
    ASSERT_NE(client, MAP_FAILED);
    auto* words = static_cast<uint32_t*>(client);
    words[0] = 0x600d600d;
    words[40 * mib / 4 + 3] = 0x600d600d;
    words[40 * mib / 4 + 4] = 0x600d600e;
    EXPECT_EQ(vram.count_resident(0x600d600d), 2u);
    vram.lose_contents();
    EXPECT_EQ(vram.count_resident(0x600d600d), 0u);
    ::munmap(client, 64 * mib);
}

TEST(Vram, SixteenGigabytesCostWhatIsTouched) {
    constexpr uint64_t gib = 1024 * mib;
    Vram vram(16 * gib);
    EXPECT_EQ(host_bytes(vram), 0u);
    for (const uint64_t offset : {uint64_t{0}, 8 * gib - 1, 8 * gib, 16 * gib - 1}) {
        vram.window(offset, 1)[0] = std::byte{1};
    }
    EXPECT_GE(host_bytes(vram), 4u * 4096);
    EXPECT_LE(host_bytes(vram), 4 * 2 * mib) << "four pages, and were they huge ones";
    Vram::Fill fill;
    EXPECT_TRUE(vram.fill_resident_with_ones(fill, ~uint64_t{0}));
    EXPECT_LE(host_bytes(vram), 4 * 2 * mib) << "a loss of the device looks at no others";
}

TEST(Vram, DiscardZeroesAndGivesMemoryBack) {
    Vram vram(8 * mib);
    vram.window(3 * mib, 1)[0] = std::byte{0x55};
    EXPECT_GT(host_bytes(vram), 0u);
    vram.lose_contents();
    EXPECT_EQ(host_bytes(vram), 0u);
    EXPECT_EQ(vram.window(3 * mib, 1)[0], std::byte{0});
}

TEST(Vram, PoisonIsNeitherZeroNorWhatWasBefore) {
    Vram vram(8 * mib);
    const auto word = [&vram] {
        uint32_t value = 0;
        std::memcpy(&value, vram.window(3 * mib, sizeof value).data(), sizeof value);
        return value;
    };
    vram.set_poisoned(true);
    vram.lose_contents();
    EXPECT_EQ(host_bytes(vram), 0u) << "nobody has been here";
    vram.window(3 * mib, 1)[0] = std::byte{0x55};
    vram.lose_contents();
    EXPECT_EQ(word(), Vram::poison_mark | 2);
    vram.lose_contents();
    EXPECT_EQ(word(), Vram::poison_mark | 3) << "another board, another pattern";
    vram.set_poisoned(false);
    vram.lose_contents();
    EXPECT_EQ(word(), 0u);
}

}  // namespace
}  // namespace gpuemu
