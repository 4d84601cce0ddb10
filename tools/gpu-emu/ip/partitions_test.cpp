// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of Partitions: what nbio_v7_9.c and gfx_v9_4_3.c read of it.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/ip/partitions.h"

#include <gtest/gtest.h>

#include <vector>

#include "gpu-emu/ip/regs/gc_9_4_3.h"
#include "gpu-emu/ip/regs/nbio_7_9_0.h"

namespace gpuemu {
namespace {

namespace gc = gc_9_4_3;
namespace nbio = nbio_7_9_0;

constexpr uint32_t SPX = 0, DPX = 1, CPX = 4;  // enum amdgpu_gfx_partition

class PartitionsTest : public testing::Test {
protected:
    PartitionsTest() { partitions.reset(ResetKind::cold); }

    /// nbio_v7_9_get_compute_partition_mode().
    uint32_t mode() {
        return registers.read(
                   at(profile.ip(HwId::NBIF), nbio::regBIF_BX_PF0_PARTITION_COMPUTE_STATUS)) >>
                   4 &
               0xf;
    }
    std::vector<uint32_t> of_each_xcc(uint32_t shift, uint32_t mask) {
        std::vector<uint32_t> values;
        for (const IpInstance* ip : profile.working(HwId::GC)) {
            values.push_back(registers.read(at(*ip, gc::regCP_HYP_XCP_CTL)) >> shift & mask);
        }
        return values;
    }
    std::vector<uint32_t> virtual_ids() { return of_each_xcc(0, 7); }
    std::vector<uint32_t> sizes() { return of_each_xcc(3, 15); }

    using Each = std::vector<uint32_t>;

    const Profile& profile = *find_profile("mi308x");
    RegisterFile registers{2u << 20};
    Partitions partitions{profile, registers};
};

TEST_F(PartitionsTest, OneAtPowerOn) {
    EXPECT_EQ(mode(), SPX);
    EXPECT_EQ(sizes(), (Each{4, 4, 4, 4}));
    EXPECT_EQ(virtual_ids(), (Each{0, 1, 2, 3}));
    EXPECT_EQ(registers.read(at(profile.ip(HwId::NBIF), nbio::regBIF_BX_PF0_PARTITION_COMPUTE_CAP)),
              1u << SPX | 1u << DPX | 1u << CPX);
}

TEST_F(PartitionsTest, TwoOrOneForEachXcc) {
    EXPECT_TRUE(partitions.divide(2));
    EXPECT_EQ(mode(), DPX);
    EXPECT_EQ(sizes(), (Each{2, 2, 2, 2}));
    EXPECT_EQ(virtual_ids(), (Each{0, 1, 0, 1}));
    EXPECT_TRUE(partitions.divide(4));
    EXPECT_EQ(mode(), CPX);
    EXPECT_EQ(sizes(), (Each{1, 1, 1, 1}));
    EXPECT_EQ(virtual_ids(), (Each{0, 0, 0, 0}));
}

TEST_F(PartitionsTest, WhatDoesNotGoIntoTheXccsChangesNothing) {
    partitions.divide(2);
    for (const uint32_t impossible : {0u, 3u, 5u, 8u, ~0u}) {
        EXPECT_FALSE(partitions.divide(impossible)) << impossible;
    }
    EXPECT_EQ(mode(), DPX);
}

TEST_F(PartitionsTest, ModeStaysOverTheResetsThatTheDriverDoesNotAskForItAfter) {
    partitions.divide(4);
    for (const ResetKind kind : {ResetKind::mode1, ResetKind::link}) {
        registers.clear();
        partitions.reset(kind);
        EXPECT_EQ(mode(), CPX);
        EXPECT_EQ(sizes(), (Each{1, 1, 1, 1}));
    }
    partitions.reset(ResetKind::flr);
    EXPECT_EQ(mode(), SPX);
}

}  // namespace
}  // namespace gpuemu
