// SPDX-License-Identifier: GPL-2.0
// Purpose: the turns of the micro engine: fairness, budgets, reset, description.
#include "gpu-emu/ip/cp/mec.h"

#include <gtest/gtest.h>

#include "gpu-emu/ip/cp/pm4.h"
#include "gpu-emu/testing/cp_bench.h"

namespace gpuemu {
namespace {

namespace gc = gc_9_4_3;
using enum pm4::Opcode;
using pm4::header;
using Turn = Engine::Turn;

class MecTest : public testing::Test {
protected:
    /// A queue of 256 dwords at ME1 pipe 0, made by registers, with doorbell = `index`.
    void start(unsigned index, uint32_t ring) {
        bench.select(1, 0, index);
        write(gc::regCP_HQD_PQ_BASE, ring >> 8);
        write(gc::regCP_HQD_PQ_CONTROL, 7);
        write(gc::regCP_HQD_PQ_DOORBELL_CONTROL, 1u << 30 | index << 2);
        write(gc::regCP_HQD_ACTIVE, 1);
    }
    void write(Reg reg, uint32_t value) { bench.registers.write(bench.dword(reg), value); }

    test::Bench bench;
    test::PlainMemory& memory = bench.memory;
};

TEST_F(MecTest, AnEndlessQueueDoesNotStarveTheOthers) {
    start(1, 0x1000);
    start(2, 0x2000);
    memory.put(0x4000, {header(PACKET3_INDIRECT_BUFFER, 3), 0x4000, 0, 1u << 20 | 4});
    memory.put(0x1000, {header(PACKET3_INDIRECT_BUFFER, 3), 0x4000, 0, 4});
    memory.put(0x2000, {header(PACKET3_WRITE_DATA, 4), 5u << 8, 0x3000, 0, 1});
    EXPECT_TRUE(bench.mec.ring_doorbell(1, 4));
    EXPECT_TRUE(bench.mec.ring_doorbell(2, 5));
    for (int turn = 0; turn < 4; ++turn) {
        Budget budget{.packets = 4};
        EXPECT_EQ(bench.mec.run(budget), Turn::more);
    }
    EXPECT_EQ(memory.at32(0x3000), 1u);
}

TEST_F(MecTest, AParkedQueueDoesNotHoldUpTheOthers) {
    start(1, 0x1000);
    start(2, 0x2000);
    memory.put(0x1000, {header(PACKET3_WAIT_REG_MEM, 6), 3 | 1u << 4, 0x3000, 0, 1, ~0u, 4});
    memory.put(0x2000, {header(PACKET3_WRITE_DATA, 4), 5u << 8, 0x3000, 0, 1});
    bench.mec.ring_doorbell(1, 7);
    bench.mec.ring_doorbell(2, 5);
    EXPECT_EQ(bench.run(bench.mec), Turn::parked);
    EXPECT_EQ(bench.run(bench.mec), Turn::idle) << "the second one fulfils the first one's wait";
}

TEST_F(MecTest, TheBudgetIsKept) {
    start(1, 0x1000);
    for (uint32_t dword = 0; dword < 200; ++dword) {
        memory.put(0x1000 + dword * 4, {0x80000000});
    }
    bench.mec.ring_doorbell(1, 200);
    Budget budget{.packets = 64};
    EXPECT_EQ(bench.mec.run(budget), Turn::more);
    EXPECT_EQ(budget.packets, 0);
    bench.select(1, 0, 1);
    EXPECT_EQ(bench.registers.read(bench.dword(gc::regCP_HQD_PQ_RPTR)), 64u);
}

TEST_F(MecTest, ResetForgetsEverything) {
    bench.start_kiq();
    start(1, 0x1000);
    EXPECT_NE(bench.mec.describe().find("mec me 2 pipe 1 queue 0 pm4"), std::string::npos);
    bench.mec.reset();
    EXPECT_EQ(bench.mec.describe(), "");
    EXPECT_FALSE(bench.mec.ring_doorbell(1, 4));
    EXPECT_EQ(bench.run(bench.mec), Turn::idle);
    bench.select(1, 0, 1);
    EXPECT_EQ(bench.registers.read(bench.dword(gc::regCP_HQD_PQ_BASE)), 0u);
}

}  // namespace
}  // namespace gpuemu
