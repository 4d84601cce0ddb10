// SPDX-License-Identifier: GPL-2.0
// Purpose: MMSCH as vcn_v4_0_3_start_sriov() and jpeg_v4_0_3_start_sriov() use it.
#include "gpu-emu/ip/vcn/mmsch.h"

#include <gtest/gtest.h>

#include "gpu-emu/ip/regs/vcn_4_0_3.h"
#include "gpu-emu/testing/cp_bench.h"

namespace gpuemu {
namespace {

using namespace vcn_4_0_3;

constexpr uint32_t table = 0x1000, shared = 0x2000, ring_base = 0x3000, jpeg_ring = 0x4000;
constexpr uint32_t header_dwords = 2 + 9 * 3;
constexpr uint32_t ok = 1, failed = 3, too_small = 4, unknown = 5;

class MmschTest : public testing::Test, protected test::Surroundings {
protected:
    MmschTest() : Surroundings("mi300x-vf") {
        vcn.reset();
        jpeg.reset();
        mmsch.reset();
        set(regMMSCH_VF_CTX_ADDR_LO, table);
        set(Reg{0x54d, 1}, 0);
        memory.put(shared, {1u << 14});
        memory.put(shared + 68, {1, ring_base, 0, 64});
    }

    uint32_t dword(Reg reg) const { return at(profile.ip(HwId::VCN), reg); }
    void set(Reg reg, uint32_t value) { registers.write(dword(reg), value); }

    /// What MMSCH answers to a context of `dwords`.
    uint32_t send(uint32_t dwords, uint32_t command = 1) {
        set(regMMSCH_VF_CTX_SIZE, dwords);
        set(regMMSCH_VF_MAILBOX_RESP, 0);
        set(regMMSCH_VF_MAILBOX_HOST, command);
        return registers.read(dword(regMMSCH_VF_MAILBOX_RESP));
    }
    /// Table of engine `engine` at dword `offset` of the context.
    void put_table(uint32_t engine, uint32_t offset, std::initializer_list<uint32_t> commands) {
        memory.put(table + (2 + 3 * engine) * 4,
                   {0, offset, static_cast<uint32_t>(commands.size())});
        memory.put(table + offset * 4, commands);
    }
    uint32_t status(uint32_t engine) { return memory.at32(table + (2 + 3 * engine) * 4); }

    const VcnLayout layout = vcn_layouts(profile).at(0);
    VcnEngine vcn{context, layout};
    JpegEngine jpeg{context, layout.jpeg};
    Mmsch mmsch{context, layout, vcn, jpeg};
};

TEST_F(MmschTest, StartsTheRingThatIsInSharedMemory) {
    put_table(0, header_dwords,
              {3u << 28 | dword(regUVD_STATUS), 4, ~4u,  // read, modify, write
               dword(regUVD_LMI_VCPU_NC0_64BIT_BAR_LOW), shared,
               dword(regUVD_LMI_VCPU_NC0_64BIT_BAR_LOW) + 1, 0, 0xfu << 28});
    EXPECT_EQ(send(header_dwords + 8), ok);
    EXPECT_EQ(status(0), 1u);
    EXPECT_EQ(registers.read(dword(regUVD_STATUS)), 6u);
    memory.put(ring_base, {3, 0x5000, 0, 8, 4, 1});
    EXPECT_TRUE(vcn.ring_doorbell(0x360, 6)) << "vcn_ring0_1 << 1";
    Budget budget;
    vcn.run(budget);
    EXPECT_EQ(memory.at32(0x5000), 8u);
    EXPECT_EQ(interrupts.entries.size(), 1u);
}

TEST_F(MmschTest, StartsEachDecoderWithTheRegistersOfTheFirst) {
    const JpegCoreLayout& first = layout.jpeg.cores[0];
    for (const uint32_t core : {0u, 5u}) {
        put_table(1 + core, header_dwords + 6 * core,
                  {first.ring.base, jpeg_ring + 0x400 * core, first.ring.base + 1, 0,
                   first.ring.size, 64});
    }
    EXPECT_EQ(send(header_dwords + 6 * 6), ok);
    EXPECT_EQ(status(1), 1u);
    EXPECT_EQ(status(6), 1u);
    EXPECT_EQ(status(2), 0u);
    EXPECT_EQ(registers.read(layout.jpeg.cores[5].ring.base), jpeg_ring + 0x1400);
    memory.put(jpeg_ring + 0x1400, {7u << 28, 0});
    EXPECT_TRUE(jpeg.ring_doorbell(0x360 + 13, 2)) << "8 + 5 of the instance's";
    EXPECT_TRUE(jpeg.ring_doorbell(0x360 + 4, 0));
    Budget budget;
    jpeg.run(budget);
    ASSERT_EQ(interrupts.entries.size(), 1u);
    EXPECT_EQ(interrupts.entries[0].source_id, 0xad);
}

TEST_F(MmschTest, SaysWhatIsWrong) {
    EXPECT_EQ(send(header_dwords, 2), unknown);
    EXPECT_EQ(send(header_dwords - 1), too_small);
    EXPECT_EQ(send(1025), too_small);
    put_table(0, header_dwords, {0xfu << 28});
    EXPECT_EQ(send(header_dwords), failed) << "the table lies behind the end";
    put_table(0, header_dwords, {7u << 28, 1, 2});
    EXPECT_EQ(send(header_dwords + 3), failed) << "no such command";
    put_table(0, header_dwords, {2u << 28 | dword(regUVD_STATUS), 1, 1});
    EXPECT_EQ(send(header_dwords + 3), failed) << "waits for what never comes";
    put_table(0, header_dwords, {dword(regUVD_STATUS)});
    EXPECT_EQ(send(header_dwords + 1), failed) << "half a command";
    set(regMMSCH_VF_CTX_ADDR_LO, 0xfffff000);
    EXPECT_EQ(send(header_dwords), failed) << "out of reach";
}

}  // namespace
}  // namespace gpuemu
