// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of Me: graphics queues as gfx_v10_0.c maps and uses them.
#include "gpu-emu/ip/cp/me.h"

#include <gtest/gtest.h>

#include "gpu-emu/testing/cp_bench.h"

namespace gpuemu {
namespace {

using pm4::header;
using enum pm4::Opcode;

constexpr uint32_t mqd = 0xa000, ring_base = 0x4000, rptr_report = 0x3000, target = 0x2000;
constexpr uint32_t doorbell = 0x116;  // AMDGPU_NAVI10_DOORBELL_GFX_RING0, in dwords
constexpr uint32_t to_memory = 5u << 8;

class MeTest : public testing::Test {
protected:
    MeTest() : ring(bench.memory, ring_base, 256) {
        bench.start_kiq();
        write_mqd();
    }

    /// As gfx_v10_0_gfx_mqd_init() fills it: dwords of struct v10_gfx_mqd.
    void write_mqd() {
        bench.memory.put(mqd + 136 * 4, {ring_base >> 8});            // cp_gfx_hqd_base
        bench.memory.put(mqd + 139 * 4, {rptr_report});               // .._rptr_addr
        bench.memory.put(mqd + 143 * 4, {1u << 30 | doorbell << 2});  // doorbell_control
        bench.memory.put(mqd + 145 * 4, {7});                         // .._cntl: 2^8 dwords
    }
    /// As gfx10_kiq_map_queues() does it.
    void map(unsigned pipe, unsigned queue = 0) {
        bench.kiq.put({header(PACKET3_MAP_QUEUES, 6),
                       1u << 29 | pm4::ENGINE_GFX << 26 | 1u << 18 | pipe << 16 | queue << 13,
                       doorbell << 2, mqd, 0, 0, 0});
        bench.run_kiq();
    }
    void unmap() {
        bench.kiq.put({header(PACKET3_UNMAP_QUEUES, 5), 1u << 29 | pm4::ENGINE_GFX << 26 | 1,
                       doorbell << 2, 0, 0, 0});
        bench.run_kiq();
    }
    Engine::Turn submit() {
        EXPECT_TRUE(bench.me.ring_doorbell(doorbell, ring.wptr()));
        return bench.run(bench.me);
    }
    void put_write(uint32_t value) {
        ring.put({header(PACKET3_WRITE_DATA, 4), to_memory, target, 0, value});
    }

    test::Bench bench{test::Bench::Rings::graphics_too};
    test::Ring ring;
};

TEST_F(MeTest, KiqMapsAQueueAndItsDoorbellRunsIt) {
    EXPECT_FALSE(bench.me.ring_doorbell(doorbell, 5));
    map(0);
    put_write(0xdeadbeef);
    EXPECT_EQ(submit(), Engine::Turn::idle);
    EXPECT_EQ(bench.memory.at32(target), 0xdeadbeefu);
    EXPECT_EQ(bench.memory.at32(rptr_report), 5u);
    EXPECT_NE(bench.me.describe().find("me pipe 0 queue 0 doorbell 0x116 rptr 5 wptr 5"),
              std::string::npos);
}

TEST_F(MeTest, FenceInterruptNamesThePipeOfMe0) {
    map(1);
    // gfx_v10_0_ring_emit_fence(): 32 bits, interrupt after the write.
    ring.put({header(PACKET3_RELEASE_MEM, 7), 0, 1u << 29 | 2u << 24, target, 0, 0x77, 0, 0});
    submit();
    EXPECT_EQ(bench.memory.at32(target), 0x77u);
    ASSERT_EQ(bench.interrupts.entries.size(), 1u);
    EXPECT_EQ(bench.interrupts.entries[0].client_id, 0x14);
    EXPECT_EQ(bench.interrupts.entries[0].source_id, 181);
    EXPECT_EQ(bench.interrupts.entries[0].ring_id, 1);  // pipe 1, ME 0
}

TEST_F(MeTest, StartOfTheRingLeavesNothingUnknown) {
    map(0);
    // gfx_v10_0_cp_gfx_start(), and what a frame has besides the job.
    ring.put({header(PACKET3_PREAMBLE_CNTL, 1), 2u << 28});
    ring.put({header(PACKET3_CONTEXT_CONTROL, 2), 0x80000000, 0x80000000});
    ring.put({header(PACKET3_SET_CONTEXT_REG, 2), 0xd7, 0x1234});
    ring.put({header(PACKET3_CLEAR_STATE, 1), 0});
    ring.put({header(PACKET3_SET_BASE, 3), 2, 0x8000, 0x8000});
    ring.put({header(PACKET3_INDIRECT_BUFFER_CNST, 3), 0x5000, 0, 16});
    ring.put({header(PACKET3_PFP_SYNC_ME, 1), 0, header(PACKET3_SWITCH_BUFFER, 1), 0});
    ring.put({header(PACKET3_FRAME_CONTROL, 1), 0});
    put_write(3);
    submit();
    EXPECT_EQ(bench.memory.at32(target), 3u);
    EXPECT_EQ(bench.registers.raw(0xa0d7), 0x1234u);
    EXPECT_EQ(bench.me.unhandled_packets().describe(), "");
}

TEST_F(MeTest, BuffersOfAProcessRunInItsVmid) {
    map(0);
    constexpr unsigned vmid = 3;
    bench.memory.put(0x5000, {header(PACKET3_WRITE_DATA, 4), to_memory, target, 0, 0x55}, vmid);
    ring.put({header(PACKET3_INDIRECT_BUFFER, 3), 0x5000, 0, 5 | vmid << 24});
    put_write(0x66);
    submit();
    EXPECT_EQ(bench.memory.at32(target, vmid), 0x55u);
    EXPECT_EQ(bench.memory.at32(target), 0x66u);
}

TEST_F(MeTest, ABufferCallsAnotherAndGoesOn) {
    map(0);
    constexpr unsigned vmid = 3;
    constexpr uint32_t ib1 = 0x5000, ib2 = 0x5800, ib3 = 0x6000;
    // As radv_amdgpu_cs_execute_ib() calls it: without the chain bit, in the caller's VMID.
    bench.memory.put(ib1,
                     {header(PACKET3_INDIRECT_BUFFER, 3), ib2, 0, 14, header(PACKET3_WRITE_DATA, 4),
                      to_memory, target, 0, 0x55},
                     vmid);
    bench.memory.put(ib2,
                     {header(PACKET3_WRITE_DATA, 4), to_memory, target + 4, 0, 0x66,
                      header(PACKET3_INDIRECT_BUFFER, 3), ib3, 0, 5,  // one level too many
                      header(PACKET3_WRITE_DATA, 4), to_memory, target + 8, 0, 0x77},
                     vmid);
    bench.memory.put(ib3, {header(PACKET3_WRITE_DATA, 4), to_memory, target + 12, 0, 0x88}, vmid);
    ring.put({header(PACKET3_INDIRECT_BUFFER, 3), ib1, 0, 9 | vmid << 24});
    put_write(0x99);
    submit();
    EXPECT_EQ(bench.memory.at32(target + 4, vmid), 0x66u);
    EXPECT_EQ(bench.memory.at32(target + 8, vmid), 0x77u);
    EXPECT_EQ(bench.memory.at32(target + 12, vmid), 0u);
    EXPECT_EQ(bench.memory.at32(target, vmid), 0x55u) << "behind the call";
    EXPECT_EQ(bench.memory.at32(target), 0x99u) << "behind the buffer";
    EXPECT_EQ(
        bench.me.unhandled_packets().count("pm4_nested_indirect_buffer", PACKET3_INDIRECT_BUFFER),
        1u);
}

TEST_F(MeTest, StateOfADriverInUserSpaceIsStored) {
    map(0);
    // The INDEX forms name which shader engines are meant, in the high bits.
    ring.put({header(PACKET3_SET_CONTEXT_REG_INDEX, 2), 0x10 | 1u << 28, 0x11});
    ring.put({header(PACKET3_SET_SH_REG_INDEX, 2), 0x20 | 3u << 28, 0x22});
    ring.put({header(PACKET3_SET_UCONFIG_REG_INDEX, 2), 0x30 | 1u << 28, 0x33});
    submit();
    EXPECT_EQ(bench.registers.raw(0xa010), 0x11u);
    EXPECT_EQ(bench.registers.raw(0x2c20), 0x22u);
    EXPECT_EQ(bench.registers.raw(0xc030), 0x33u);
    EXPECT_EQ(bench.me.unhandled_packets().describe(), "");
}

TEST_F(MeTest, DmaOfRadvFillsCopiesAndPrefetches) {
    map(0);
    constexpr uint32_t to_l2 = 3u << 20, from_l2 = 3u << 29, nowhere = 2u << 20, sync = 1u << 31;
    constexpr uint32_t no_confirm = 1u << 31, raw_wait = 1u << 30;
    bench.memory.put(target, {1, 2, 3, 4});
    ring.put({header(PACKET3_DMA_DATA, 6), 2u << 29 | to_l2, 0xabcdef01, 0, target + 0x100, 0,
              8 | no_confirm});
    ring.put({header(PACKET3_DMA_DATA, 6), from_l2 | to_l2 | sync, target + 1, 0, target + 0x201, 0,
              9 | raw_wait});
    ring.put({header(PACKET3_DMA_DATA, 6), from_l2 | nowhere, target, 0, target + 0x300, 0, 16});
    ring.put({header(PACKET3_DMA_DATA, 6), sync, 0, 0, 0, 0, 0});  // only waits for the others
    put_write(7);
    submit();
    EXPECT_EQ(bench.memory.at32(target + 0x100), 0xabcdef01u);
    EXPECT_EQ(bench.memory.at32(target + 0x104), 0xabcdef01u);
    EXPECT_EQ(bench.memory.at32(target + 0x108), 0u);
    EXPECT_EQ(bench.memory.at32(target + 0x204), 2u);
    EXPECT_EQ(bench.memory.at32(target + 0x208), 3u & 0xffffu);
    EXPECT_EQ(bench.memory.at32(target + 0x300), 0u) << "a prefetch writes nothing";
    EXPECT_EQ(bench.memory.at32(target), 7u);
    EXPECT_EQ(bench.me.unhandled_packets().describe(), "");
}

TEST_F(MeTest, PacketsOfTheSchedulerAreUnknown) {
    map(0);
    ring.put({header(PACKET3_UNMAP_QUEUES, 5), 2u << 4, 0, 0, 0, 0});
    put_write(1);
    submit();
    EXPECT_EQ(bench.memory.at32(target), 1u);
    EXPECT_EQ(bench.me.unhandled_packets().count("pm4_unknown_opcode", PACKET3_UNMAP_QUEUES), 1u);
}

TEST_F(MeTest, UnmappingSavesThePointersAndMappingGoesOnThere) {
    map(0);
    put_write(1);
    submit();
    unmap();
    EXPECT_FALSE(bench.me.ring_doorbell(doorbell, 10));
    EXPECT_EQ(bench.memory.at32(mqd + 138 * 4), 5u);  // cp_gfx_hqd_rptr
    EXPECT_EQ(bench.memory.at32(mqd + 149 * 4), 5u);  // cp_gfx_hqd_wptr
    put_write(2);
    map(0);
    submit();
    EXPECT_EQ(bench.memory.at32(target), 2u);
}

TEST_F(MeTest, AWaitParksTheQueueUntilMemoryChanges) {
    map(0);
    constexpr uint32_t semaphore = 0x2100;
    // gfx_v10_0_ring_emit_pipeline_sync(): equal, memory.
    ring.put({header(PACKET3_WAIT_REG_MEM, 6), 3 | 1u << 4, semaphore, 0, 9, ~0u, 4});
    put_write(4);
    EXPECT_EQ(submit(), Engine::Turn::parked);
    EXPECT_EQ(bench.memory.at32(target), 0u);
    bench.memory.put(semaphore, {9});
    EXPECT_EQ(bench.run(bench.me), Engine::Turn::idle);
    EXPECT_EQ(bench.memory.at32(target), 4u);
}

TEST_F(MeTest, QueuesThatAreNotThereAreRefused) {
    map(2);
    map(0, 2);
    bench.memory.break_page(0, mqd);
    map(0);
    EXPECT_FALSE(bench.me.ring_doorbell(doorbell, 5));
    EXPECT_EQ(bench.mec.unhandled_packets().count("map_graphics_queue_failed", PACKET3_MAP_QUEUES),
              3u);
}

TEST_F(MeTest, AQueueThatHangsIsResetAloneAndMappedAgain) {
    constexpr uint32_t CP_VMID_RESET = 0x2000 + 0x1e53, active = mqd + 130 * 4;
    bench.memory.put(active, {1});  // cp_gfx_hqd_active
    map(0);
    ring.put({header(PACKET3_WAIT_REG_MEM, 6), 3 | 1u << 4, 0x2100, 0, 9, ~0u, 4});
    EXPECT_EQ(submit(), Engine::Turn::parked);
    // gfx_v10_0_reset_kgq(): first the neighbours, then the queue itself.
    bench.registers.write(CP_VMID_RESET, 1u << 24 | 1u << 17);
    EXPECT_EQ(bench.memory.at32(active), 1u);
    bench.registers.write(CP_VMID_RESET, 1u << 16);
    EXPECT_EQ(bench.registers.read(CP_VMID_RESET), 0u);
    EXPECT_EQ(bench.memory.at32(active), 0u);
    EXPECT_FALSE(bench.me.ring_doorbell(doorbell, 5));

    map(0);
    test::Ring again(bench.memory, ring_base, 256);
    again.put({header(PACKET3_WRITE_DATA, 4), to_memory, target, 0, 7});
    EXPECT_TRUE(bench.me.ring_doorbell(doorbell, again.wptr()));
    EXPECT_EQ(bench.run(bench.me), Engine::Turn::idle);
    EXPECT_EQ(bench.memory.at32(target), 7u);
}

TEST_F(MeTest, ResetTakesAllQueues) {
    map(0);
    bench.me.reset();
    EXPECT_FALSE(bench.me.ring_doorbell(doorbell, 5));
    EXPECT_EQ(bench.me.describe(), "");
}

}  // namespace
}  // namespace gpuemu
