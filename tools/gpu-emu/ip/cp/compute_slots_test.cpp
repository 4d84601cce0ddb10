// SPDX-License-Identifier: GPL-2.0
// Purpose: the HQD window and queues made by register writes: banking, pointers, dequeue, pipe
// reset.
#include "gpu-emu/ip/cp/compute_slots.h"

#include <gtest/gtest.h>

#include "gpu-emu/ip/cp/pm4.h"
#include "gpu-emu/testing/cp_bench.h"

namespace gpuemu {
namespace {

namespace gc = gc_9_4_3;
using enum pm4::Opcode;
using pm4::header;

class ComputeSlotsTest : public testing::Test {
protected:
    uint32_t read(Reg reg) { return bench.registers.read(bench.dword(reg)); }
    void write(Reg reg, uint32_t value) { bench.registers.write(bench.dword(reg), value); }

    test::Bench bench;
};

TEST_F(ComputeSlotsTest, TheWindowIsBankedByGrbmGfxCntl) {
    bench.select(1, 2, 3);
    write(gc::regCP_HQD_PQ_BASE, 0x123);
    bench.select(1, 2, 4);
    EXPECT_EQ(read(gc::regCP_HQD_PQ_BASE), 0u);
    write(gc::regCP_HQD_PQ_BASE, 0x456);
    bench.select(1, 2, 3);
    EXPECT_EQ(read(gc::regCP_HQD_PQ_BASE), 0x123u);
}

TEST_F(ComputeSlotsTest, ActiveQueuesShowTheirPointers) {
    bench.start_kiq();
    bench.kiq.put({0x80000000, 0x80000000, 0x80000000});
    EXPECT_EQ(bench.run_kiq(), Engine::Turn::idle);
    bench.select(2, 1, 0);
    EXPECT_EQ(read(gc::regCP_HQD_ACTIVE), 1u);
    EXPECT_EQ(read(gc::regCP_HQD_PQ_RPTR), 3u);
    EXPECT_EQ(read(gc::regCP_HQD_PQ_WPTR_LO), 3u);
    EXPECT_EQ(read(gc::regCP_HQD_PQ_WPTR_HI), 0u);
    EXPECT_TRUE(bench.kicker.kicked.contains(&bench.mec));
}

TEST_F(ComputeSlotsTest, DequeueLeavesNoPointersBehind) {
    bench.start_kiq();
    bench.kiq.put({0x80000000});
    bench.run_kiq();
    bench.select(2, 1, 0);
    write(gc::regCP_HQD_DEQUEUE_REQUEST, 1);
    EXPECT_EQ(read(gc::regCP_HQD_ACTIVE), 0u);
    EXPECT_EQ(read(gc::regCP_HQD_PQ_RPTR), 0u) << "the next MQD copies it from here";
    EXPECT_EQ(bench.memory.faults, 0u) << "no MQD is known, none is written";
    EXPECT_FALSE(bench.mec.ring_doorbell(test::Bench::kiq_doorbell, 5));
}

TEST_F(ComputeSlotsTest, OnlyTheMicroEnginesHaveQueues) {
    bench.select(0, 0, 0);
    write(gc::regCP_HQD_PQ_DOORBELL_CONTROL, 1u << 30 | 9u << 2);
    write(gc::regCP_HQD_ACTIVE, 1);
    EXPECT_EQ(read(gc::regCP_HQD_ACTIVE), 0u);
    EXPECT_FALSE(bench.mec.ring_doorbell(9, 1));
}

TEST_F(ComputeSlotsTest, ADoorbellCountsOnlyWhenEnabled) {
    bench.select(1, 0, 0);
    write(gc::regCP_HQD_PQ_DOORBELL_CONTROL, 9u << 2);
    write(gc::regCP_HQD_ACTIVE, 1);
    EXPECT_FALSE(bench.mec.ring_doorbell(9, 1));
}

TEST_F(ComputeSlotsTest, PipeResetTakesTheQueuesOfThePipe) {
    bench.start_kiq();
    write(gc::regCP_MEC_CNTL, 1u << 20);  // MEC_ME2_PIPE0_RESET
    bench.select(2, 1, 0);
    EXPECT_EQ(read(gc::regCP_HQD_ACTIVE), 1u);
    write(gc::regCP_MEC_CNTL, 1u << 21);  // MEC_ME2_PIPE1_RESET
    EXPECT_EQ(read(gc::regCP_HQD_ACTIVE), 0u);
}

TEST_F(ComputeSlotsTest, OneShotPollReadsTheWritePointerAtActivation) {
    bench.memory.put(0x1000, {header(PACKET3_WRITE_DATA, 4), 5u << 8, 0x2000, 0, 1}, 8);
    bench.memory.put64(0x3000, 5, 8);
    bench.select(1, 0, 2);
    write(gc::regCP_HQD_VMID, 8);
    write(gc::regCP_HQD_PQ_BASE, 0x1000 >> 8);
    write(gc::regCP_HQD_PQ_CONTROL, 5);
    write(gc::regCP_HQD_PQ_WPTR_POLL_ADDR, 0x3000);
    write(gc::regCP_PQ_WPTR_POLL_CNTL1, 1u << 2);
    write(gc::regCP_HQD_ACTIVE, 1);
    EXPECT_EQ(bench.run(bench.mec), Engine::Turn::idle);
    EXPECT_EQ(bench.memory.at32(0x2000, 8), 1u);

    bench.memory.put(0x1014, {header(PACKET3_WRITE_DATA, 4), 5u << 8, 0x2000, 0, 2}, 8);
    bench.memory.put64(0x3000, 10, 8);
    write(gc::regCP_PQ_WPTR_POLL_CNTL1, 1u << 2);
    EXPECT_EQ(bench.run(bench.mec), Engine::Turn::idle);
    EXPECT_EQ(bench.memory.at32(0x2000, 8), 2u);
}

TEST_F(ComputeSlotsTest, NonsenseInTheRegistersIsBounded) {
    bench.select(1, 0, 0);
    write(gc::regCP_HQD_PQ_CONTROL, 0x3f);
    write(gc::regCP_HQD_PQ_WPTR_HI, ~0u);
    write(gc::regCP_HQD_PQ_WPTR_LO, ~0u);
    write(gc::regCP_HQD_AQL_CONTROL, 1);
    write(gc::regCP_HQD_PQ_RPTR, 7);
    write(gc::regCP_HQD_ACTIVE, 1);
    Budget budget;
    bench.mec.run(budget);
    EXPECT_EQ(read(gc::regCP_HQD_ACTIVE), 1u);
}

}  // namespace
}  // namespace gpuemu
