// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of the profile tables: what the driver would stumble over.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/profiles/profile.h"

#include <gtest/gtest.h>

#include <bit>
#include <stdexcept>

namespace gpuemu {
namespace {

TEST(Profiles, AreFoundByName) {
    ASSERT_NE(find_profile("mi300x"), nullptr);
    EXPECT_EQ(find_profile("mi300x")->device_id, 0x74a1);
    ASSERT_NE(find_profile("mi300x-vf"), nullptr);
    EXPECT_TRUE(find_profile("mi300x-vf")->virtual_function);
    EXPECT_EQ(find_profile("mi300"), nullptr);
    ASSERT_NE(find_profile("navi21"), nullptr);
    EXPECT_EQ(find_profile("navi21")->class_code, 0x038000u);
    ASSERT_NE(find_profile("mi350x"), nullptr);
    EXPECT_EQ(find_profile("mi350x")->device_id, 0x75a0);
    EXPECT_EQ(all_profiles().size(), 6u);
}

/// Segments are named in units of 16 MiB and must hold the VRAM of a node; GART lies in what the
/// hive leaves of the address space.
TEST(Profiles, AHiveHasRoomForItsMembers) {
    const Profile& hive = *find_profile("mi300x-hive");
    EXPECT_TRUE(hive.hive.in_hive());
    EXPECT_EQ(hive.hive.segment_bytes % (1u << 24), 0u);
    EXPECT_LE(hive.vram_bytes, hive.hive.segment_bytes);
    EXPECT_LT(hive.fb_base + hive.hive.nodes * hive.hive.segment_bytes, 1ull << 47);
    for (const char* alone : {"mi300x", "mi300x-vf", "mi308x", "mi350x", "navi21"}) {
        EXPECT_FALSE(find_profile(alone)->hive.in_hive()) << alone;
    }
}

TEST(Profiles, AnIpThatIsNotThereThrows) {
    const Profile& profile = *find_profile("mi300x");
    EXPECT_EQ(profile.ip(HwId::SDMA0, 1).bases.at(0), 0x1860u);
    EXPECT_THROW(profile.ip(HwId::SDMA0, 2), std::out_of_range);
}

TEST(Profiles, SizesArePowersOfTwoAsBarsMustBe) {
    for (const Profile* profile : all_profiles()) {
        EXPECT_TRUE(std::has_single_bit(profile->vram_bytes)) << profile->name;
        EXPECT_TRUE(std::has_single_bit(profile->doorbell_bar_bytes)) << profile->name;
        EXPECT_TRUE(std::has_single_bit(profile->register_bar_bytes)) << profile->name;
        EXPECT_EQ(profile->fb_base % (1u << 24), 0u) << profile->name;
    }
}

/// gfx_v9_4_3.c keeps 16 bits of a register that falls into the XCC ranges; packets carry 18 bits.
TEST(Profiles, BasesThatPacketsNameAreNotFoldedIntoTheXcc) {
    for (const Profile* profile : all_profiles()) {
        for (const HwId hw_id : {HwId::MMHUB, HwId::NBIF, HwId::OSSSYS, HwId::HDP, HwId::SDMA0}) {
            for (const IpInstance* ip : profile->working(hw_id)) {
                const uint32_t base = ip->bases.at(0);
                EXPECT_LT(base, 1u << 18) << profile->name;
                if (profile->ip(HwId::GC).major == 9) {
                    const uint32_t low = base & 0xffff;
                    EXPECT_FALSE(low >= 0x2000 && low <= 0x33ff) << profile->name;
                    EXPECT_FALSE(low >= 0xa000) << profile->name;
                }
            }
        }
        const IpInstance& nbif = profile->ip(HwId::NBIF);
        EXPECT_GE(nbif.bases.size(), nbif.major == 7 ? 9u : 3u) << profile->name;
    }
}

/// The versions by which amdgpu takes other branches than for an MI300X.
TEST(Profiles, TheMi350xIsAnotherGeneration) {
    const Profile& profile = *find_profile("mi350x");
    const IpInstance& gc = profile.ip(HwId::GC);
    EXPECT_EQ(gc.major, 9);
    EXPECT_EQ(gc.minor, 5);
    EXPECT_EQ(profile.ip(HwId::MP0).revision, 12);
    EXPECT_EQ(profile.ip(HwId::MP1).revision, 12);
    EXPECT_EQ(profile.gc.lds_size_kib, 160u);
    EXPECT_EQ(profile.gc.shader_engines * profile.gc.cu_per_sh, 32u);
    EXPECT_EQ(profile.working(HwId::GC).size(), 1u);
    EXPECT_EQ(profile.working(HwId::UMC).size(), 16u) << "of a GPU with HBM3E";
}

/// What is harvested is in the list, as the driver counts from it, and does not work.
TEST(Profiles, OfTheTwoXccsOfEachAidOfTheMi308xOneWorks) {
    const Profile& profile = *find_profile("mi308x");
    const auto xccs = profile.working(HwId::GC);
    ASSERT_EQ(xccs.size(), 4u);
    EXPECT_EQ(profile.aids(), 4u);
    EXPECT_EQ(profile.working(HwId::SDMA0).size(), 16u);
    for (unsigned xcc = 0; xcc < xccs.size(); ++xcc) {
        EXPECT_EQ(xccs[xcc]->instance, 2 * xcc);
        for (unsigned segment = 0; segment < 2; ++segment) {  // NORMALIZE_XCC_REG_OFFSET
            EXPECT_EQ(xccs[xcc]->bases.at(segment) & 0xffff, xccs[0]->bases.at(segment));
        }
    }
    EXPECT_NO_THROW(profile.ip(HwId::GC, 1));
    EXPECT_EQ(find_profile("mi300x")->working(HwId::GC).size(), 1u);
    EXPECT_EQ(find_profile("mi300x")->aids(), 1u);
}

}  // namespace
}  // namespace gpuemu
