// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of Nbio.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/ip/nbio.h"

#include <gtest/gtest.h>

#include <cstring>

namespace gpuemu {
namespace {

// Addresses that the driver uses before it knows the table (amdgpu_discovery.c, amdgpu_virt.h).
constexpr uint32_t mmMM_INDEX = 0, mmMM_DATA = 1, mmMM_INDEX_HI = 6;
constexpr uint32_t mmRCC_CONFIG_MEMSIZE = 0xde3, mmRCC_IOV_FUNC_IDENTIFIER = 0xde5;
constexpr uint32_t PCIE_INDEX2 = 0xe, PCIE_DATA2 = 0xf, PCIE_INDEX2_HI = 0x11;
constexpr uint32_t BIF_DOORBELL_INT_CNTL = 0xd20 + 0xfe;

class NbioTest : public testing::Test {
protected:
    NbioTest() {
        profile.vram_bytes = 64u << 20;
        nbio.reset(ResetKind::cold);
    }
    Profile profile = *find_profile("mi300x");
    RegisterFile registers{2u << 20};
    Vram vram{64u << 20};
    Nbio nbio{profile, registers, vram};
};

TEST_F(NbioTest, IdentityAtTheFixedAddresses) {
    EXPECT_EQ(registers.read(mmRCC_CONFIG_MEMSIZE), 64u);
    EXPECT_EQ(registers.read(mmRCC_IOV_FUNC_IDENTIFIER), 0u);
    EXPECT_NE(registers.read(0xd20 + 0x16) >> 24 & 0xf, 0u);  // revision
    EXPECT_EQ(registers.read(0xd20 + 0x162), 1u);             // PARTITION_MEM_CAP: NPS1
    EXPECT_EQ(registers.read(0xd20 + 0x164) >> 4 & 0xff, 1u);
    EXPECT_EQ(registers.read(0xd20 + 0x107), ~0u);  // HDP flush done
    EXPECT_TRUE(registers.unknown_reads().empty());
}

TEST_F(NbioTest, IdentityCannotBeWritten) {
    for (const uint32_t dword :
         {mmRCC_CONFIG_MEMSIZE, mmRCC_IOV_FUNC_IDENTIFIER, 0xd20u + 0x16, 0xd20u + 0x107,
          0xd20u + 0x161, 0xd20u + 0x162, 0xd20u + 0x163, 0xd20u + 0x164}) {
        const uint32_t before = registers.read(dword);
        registers.write(dword, ~before);
        EXPECT_EQ(registers.read(dword), before) << std::hex << dword;
        EXPECT_EQ(registers.read_only_writes().count(uint64_t{dword} * 4), 1u) << std::hex << dword;
    }
}

using Block = DoorbellRoute::Block;

/// nbio_v7_9_ih_, _sdma_ and _vcn_doorbell_range().
TEST_F(NbioTest, DoorbellsGoWhereTheRangesSay) {
    constexpr uint64_t entry_0 = (0x05000000 + 0xcd00) * 4ull;
    const auto set = [&](unsigned entry, uint32_t first, uint32_t count) {
        registers.write_far(entry_0 + entry * 4, first | count << 10);
    };
    const auto route = [&](uint32_t index) {
        return nbio.route_of(index).value_or(DoorbellRoute{.instance = 99});
    };
    EXPECT_EQ(route(0x340), DoorbellRoute{}) << "nobody has said anything";
    set(0, 0x340, 8);
    set(1, 0x200, 20);
    set(6, 0x23c, 20);
    set(17, 0x360, 9);
    EXPECT_EQ(route(0x340).block, Block::ih);
    EXPECT_EQ(route(0x347).block, Block::ih);
    EXPECT_EQ(route(0x348).block, Block::cp);
    EXPECT_EQ(route(0x1ff).block, Block::cp);
    EXPECT_EQ(route(0x200), (DoorbellRoute{.block = Block::sdma, .instance = 0}));
    EXPECT_EQ(route(0x213), (DoorbellRoute{.block = Block::sdma, .instance = 0}));
    EXPECT_EQ(route(0x214).block, Block::cp);
    EXPECT_EQ(route(0x23c), (DoorbellRoute{.block = Block::sdma, .instance = 5}));
    EXPECT_EQ(route(0x368).block, Block::video);
    EXPECT_EQ(route(5 * 1024 + 0x200), (DoorbellRoute{.block = Block::sdma, .instance = 0}))
        << "in each page, so in that of a process";
    registers.clear();
    nbio.reset(ResetKind::flr);
    EXPECT_EQ(route(0x200).block, Block::cp) << "a reset ends it";
    EXPECT_TRUE(registers.unknown_reads().empty());
}

/// nbio_v2_3_ih_, _sdma_ and _vcn_doorbell_range().
TEST(Nbio, Navi21HasItsRangesElsewhere) {
    const Profile& profile = *find_profile("navi21");
    RegisterFile registers(1u << 20);
    Vram vram(1u << 20);
    Nbio nbio(profile, registers, vram);
    nbio.reset(ResetKind::cold);
    registers.write(0xd20 + 0x1d2, 0x300 << 2 | 2u << 16);
    registers.write(0xd20 + 0x1d7, 0x230 << 2 | 20u << 16);
    registers.write(0xd20 + 0x1d8, 0x318 << 2 | 8u << 16);
    EXPECT_EQ(nbio.route_of(0x301)->block, Block::ih);
    EXPECT_EQ(nbio.route_of(0x302)->block, Block::cp);
    EXPECT_EQ(*nbio.route_of(0x243), (DoorbellRoute{.block = Block::sdma, .instance = 3}));
    EXPECT_EQ(nbio.route_of(0x31f)->block, Block::video);
}

TEST(Nbio, Navi21IsPosted) {
    const Profile& profile = *find_profile("navi21");
    RegisterFile registers(1u << 20);
    Vram vram(1u << 20);
    Nbio nbio(profile, registers, vram);
    nbio.reset(ResetKind::cold);
    EXPECT_EQ(registers.read(mmRCC_CONFIG_MEMSIZE), 1024u);
    EXPECT_NE(registers.read(0xd20 + 0x11) >> 24 & 0xf, 0u);  // revision
    // amdgpu_atombios_scratch_need_asic_init()
    EXPECT_NE(registers.read(0x14 + 0x3f) & 0x200, 0u);
}

TEST(Nbio, VirtualFunctionSaysSo) {
    const Profile& profile = *find_profile("mi300x-vf");
    RegisterFile registers(2u << 20);
    Vram vram(1u << 20);
    Nbio nbio(profile, registers, vram);
    nbio.reset(ResetKind::cold);
    EXPECT_EQ(registers.read(mmRCC_IOV_FUNC_IDENTIFIER) & 1, 1u);
    EXPECT_FALSE(nbio.route_of(0)) << "its host has set the ranges";
}

TEST_F(NbioTest, VramThroughTheIndexWindow) {
    const uint64_t address = 0x123'4568;
    registers.write(mmMM_INDEX, 0x80000000 | static_cast<uint32_t>(address));
    registers.write(mmMM_INDEX_HI, 0);
    registers.write(mmMM_DATA, 0xcafe1234);
    uint32_t stored = 0;
    std::memcpy(&stored, vram.window(address, 4).data(), 4);
    EXPECT_EQ(stored, 0xcafe1234u);
    EXPECT_EQ(registers.read(mmMM_DATA), 0xcafe1234u);
    registers.write(mmMM_INDEX_HI, 1);  // 2 GiB: beyond VRAM
    EXPECT_EQ(registers.read(mmMM_DATA), 0u);
    registers.write(mmMM_INDEX_HI, 0);
    registers.write(mmMM_INDEX, static_cast<uint32_t>(address));  // no aperture bit
    EXPECT_EQ(registers.read(mmMM_DATA), 0u);
}

TEST_F(NbioTest, SmnThroughTheOtherWindow) {
    registers.preset_far(0x12'03b1'0028, 77);
    registers.write(PCIE_INDEX2, 0x03b10028);
    registers.write(PCIE_INDEX2_HI, 0x12);
    EXPECT_EQ(registers.read(PCIE_DATA2), 77u);
    registers.write(PCIE_DATA2, 78);
    EXPECT_EQ(registers.read_far(0x12'03b1'0028), 78u);
    registers.write(PCIE_INDEX2_HI, 0);
    registers.write(PCIE_INDEX2, 0x2000 * 4);  // in the window: the register itself
    registers.write(PCIE_DATA2, 5);
    EXPECT_EQ(registers.read(0x2000), 5u);
}

TEST_F(NbioTest, SmnWindowNamingItselfEnds) {
    registers.write(PCIE_INDEX2_HI, 0);
    registers.write(PCIE_INDEX2, PCIE_DATA2 * 4);
    registers.write(PCIE_DATA2, 1);
    EXPECT_EQ(registers.read(PCIE_DATA2), 0u);
}

TEST_F(NbioTest, FatalErrorStaysUntilCleared) {
    constexpr uint32_t athub_status = 1u << 2, athub_clear = 1u << 18;
    nbio.latch_fatal_error();
    EXPECT_EQ(registers.read(BIF_DOORBELL_INT_CNTL) & athub_status, athub_status);
    registers.write(BIF_DOORBELL_INT_CNTL, 0x01000000);  // other bits do not clear it
    EXPECT_EQ(registers.read(BIF_DOORBELL_INT_CNTL), 0x01000000 | athub_status);
    registers.write(BIF_DOORBELL_INT_CNTL, 0x01000000 | athub_status | athub_clear);
    EXPECT_EQ(registers.read(BIF_DOORBELL_INT_CNTL), 0x01000000u);
}

}  // namespace
}  // namespace gpuemu
