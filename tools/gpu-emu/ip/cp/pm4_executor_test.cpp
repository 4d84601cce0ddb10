// SPDX-License-Identifier: GPL-2.0
// Purpose: each PM4 packet through a running KIQ, as the driver and its users build them.
#include "gpu-emu/ip/cp/pm4_executor.h"

#include <gtest/gtest.h>

#include <vector>

#include "gpu-emu/testing/cp_bench.h"

namespace gpuemu {
namespace {

using enum pm4::Opcode;
using pm4::header;
using Turn = Engine::Turn;

constexpr uint32_t scratch_reg0 = 0xc040;
constexpr uint32_t to_memory = 5u << 8;
constexpr uint32_t ib = 0x4000;

class Pm4ExecutorTest : public testing::Test {
protected:
    Pm4ExecutorTest() { bench.start_kiq(); }

    /// Calls a buffer at `ib` that runs in `vmid`.
    void call(std::initializer_list<uint32_t> packets, unsigned vmid, uint32_t dwords = 0) {
        bench.memory.put(ib, packets, vmid);
        const auto size = dwords != 0 ? dwords : static_cast<uint32_t>(packets.size());
        bench.kiq.put({header(PACKET3_INDIRECT_BUFFER, 3), ib, 0, 1u << 23 | size | vmid << 24});
    }

    test::Bench bench;
    test::PlainMemory& memory = bench.memory;
    test::Ring& kiq = bench.kiq;
};

TEST_F(Pm4ExecutorTest, RingTestOfTheDriver) {
    kiq.put({header(PACKET3_SET_UCONFIG_REG, 2), scratch_reg0 - 0xc000, 0xdeadbeef});
    EXPECT_EQ(bench.run_kiq(), Turn::idle);
    EXPECT_EQ(bench.registers.read(scratch_reg0), 0xdeadbeefu);
    EXPECT_EQ(memory.at32(test::Bench::kiq_rptr_report), 3u);
    EXPECT_EQ(memory.hubs_used, std::set<Hub>{Hub::gfx});
}

TEST_F(Pm4ExecutorTest, SetRegistersStaysInItsSpace) {
    kiq.put({header(PACKET3_SET_SH_REG, 3), 0x3ff, 1, 2});  // the second one would be beyond
    kiq.put({header(PACKET3_SET_CONTEXT_REG, 2), 0x10, 3});
    kiq.put({header(PACKET3_SET_CONFIG_REG, 2), 0x20, 4});
    EXPECT_EQ(bench.run_kiq(), Turn::idle);
    EXPECT_EQ(bench.registers.read(0x2fff), 1u);
    EXPECT_EQ(bench.registers.read(0x3000), 0u);
    EXPECT_EQ(bench.registers.read(0xa010), 3u);
    EXPECT_EQ(bench.registers.read(0x2020), 4u);
    EXPECT_EQ(bench.mec.unhandled_packets().count("pm4_register_refused", PACKET3_SET_SH_REG), 1u);
    EXPECT_TRUE(bench.interrupts.entries.empty()) << "the kernel's own mistakes raise no fault";
}

TEST_F(Pm4ExecutorTest, WriteDataToMemory) {
    kiq.put({header(PACKET3_WRITE_DATA, 6), to_memory, 0x2000, 0, 1, 2, 3});
    kiq.put({header(PACKET3_WRITE_DATA, 5), to_memory | 1u << 16, 0x2100, 0, 7, 8});
    kiq.put({header(PACKET3_WRITE_DATA, 4), 1u << 8, 0x2200, 0, 9});
    EXPECT_EQ(bench.run_kiq(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2008), 3u);
    EXPECT_EQ(memory.at32(0x2100), 8u) << "one address: the last value stays";
    EXPECT_EQ(memory.at32(0x2104), 0u);
    EXPECT_EQ(memory.at32(0x2200), 9u);
}

TEST_F(Pm4ExecutorTest, WriteDataToRegisters) {
    kiq.put({header(PACKET3_WRITE_DATA, 5), 0, scratch_reg0, 0, 1, 2});
    kiq.put({header(PACKET3_WRITE_DATA, 5), 1u << 16, scratch_reg0 + 4, 0, 3, 4});
    EXPECT_EQ(bench.run_kiq(), Turn::idle);
    EXPECT_EQ(bench.registers.read(scratch_reg0 + 1), 2u);
    EXPECT_EQ(bench.registers.read(scratch_reg0 + 4), 4u);
    EXPECT_EQ(bench.registers.read(scratch_reg0 + 5), 0u);
}

TEST_F(Pm4ExecutorTest, KiqFenceInterrupt) {
    kiq.put({header(PACKET3_WRITE_DATA, 4), 0, bench.dword(gc_9_4_3::regCPC_INT_STATUS), 0,
             0x20000000});
    EXPECT_EQ(bench.run_kiq(), Turn::idle);
    ASSERT_EQ(bench.interrupts.entries.size(), 1u);
    const InterruptEntry& entry = bench.interrupts.entries[0];
    EXPECT_EQ(entry.client_id, 20);
    EXPECT_EQ(entry.source_id, 178);
    EXPECT_EQ(entry.ring_id, 1 | 2 << 2 | 0 << 4);
    EXPECT_EQ(entry.node_id, 1);
}

TEST_F(Pm4ExecutorTest, ReleaseMemWritesThenInterrupts) {
    kiq.put({header(PACKET3_RELEASE_MEM, 7), 0, 2u << 29 | 2u << 24, 0x2000, 0, 0x11, 0x22, 0x33});
    kiq.put({header(PACKET3_RELEASE_MEM, 7), 0, 1u << 29, 0x2010, 0, 0x44, 0x55, 0});
    kiq.put({header(PACKET3_RELEASE_MEM, 7), 0, 3u << 29, 0x2020, 0, 0, 0, 0});
    EXPECT_EQ(bench.run_kiq(), Turn::idle);
    EXPECT_EQ(memory.at64(0x2000), 0x22'0000'0011u);
    EXPECT_EQ(memory.at64(0x2010), 0x44u);
    EXPECT_EQ(memory.at64(0x2020), bench.clock);
    ASSERT_EQ(bench.interrupts.entries.size(), 1u);
    EXPECT_EQ(bench.interrupts.entries[0].source_id, 181);
    EXPECT_EQ(bench.interrupts.entries[0].data[0], 0x33u);
}

TEST_F(Pm4ExecutorTest, WaitForMemoryParksAndWakes) {
    kiq.put({header(PACKET3_WAIT_REG_MEM, 6), 3 | 1u << 4, 0x2000, 0, 5, 0xff, 4});
    kiq.put({header(PACKET3_WRITE_DATA, 4), to_memory, 0x2100, 0, 1});
    EXPECT_EQ(bench.run_kiq(), Turn::parked);
    EXPECT_EQ(bench.run(bench.mec), Turn::parked);
    EXPECT_EQ(memory.at32(0x2100), 0u);
    memory.put(0x2000, {0x305});  // equal under the mask
    EXPECT_EQ(bench.run(bench.mec), Turn::idle);
    EXPECT_EQ(memory.at32(0x2100), 1u);
}

TEST_F(Pm4ExecutorTest, WriteRegisterThenWaitForAnother) {
    uint32_t requests = 0;
    bench.registers.declare(0x100, 1, {.written = [&](uint32_t, uint32_t) { ++requests; }});
    // gmc_v10_0_emit_flush_gpu_tlb(): the request says more than what is waited for.
    constexpr uint32_t request = 0xf80004;
    kiq.put({header(PACKET3_WAIT_REG_MEM, 6), 3 | 1u << 6, 0x100, 0x101, request, 4, 0x20});
    EXPECT_EQ(bench.run_kiq(), Turn::parked);
    EXPECT_EQ(bench.run(bench.mec), Turn::parked);
    EXPECT_EQ(requests, 1u) << "asked once, polled often";
    EXPECT_EQ(bench.registers.read(0x100), request);
    bench.registers.write(0x101, 0xff);
    EXPECT_EQ(bench.run(bench.mec), Turn::idle);
}

TEST_F(Pm4ExecutorTest, CopyData) {
    bench.registers.write(scratch_reg0, 0x77);
    bench.registers.write(scratch_reg0 + 1, 0x88);
    memory.put64(0x2000, 0x99'0000'00aa);
    kiq.put({header(PACKET3_COPY_DATA, 5), to_memory, scratch_reg0, 0, 0x2100, 0});
    kiq.put({header(PACKET3_COPY_DATA, 5), to_memory | 1u << 16, scratch_reg0, 0, 0x2108, 0});
    kiq.put({header(PACKET3_COPY_DATA, 5), 1 | to_memory | 1u << 16, 0x2000, 0, 0x2110, 0});
    kiq.put({header(PACKET3_COPY_DATA, 5), 5 | to_memory, 0x1234, 0, 0x2118, 0});
    kiq.put({header(PACKET3_COPY_DATA, 5), 9 | to_memory | 1u << 16, 0, 0, 0x2120, 0});
    kiq.put({header(PACKET3_COPY_DATA, 5), 1, 0x2000, 0, scratch_reg0 + 2, 0});
    kiq.put({header(PACKET3_COPY_DATA, 5), 3, 0, 0, 0, 0});  // GDS
    EXPECT_EQ(bench.run_kiq(), Turn::idle);
    EXPECT_EQ(memory.at64(0x2100), 0x77u);
    EXPECT_EQ(memory.at64(0x2108), 0x88'0000'0077u);
    EXPECT_EQ(memory.at64(0x2110), 0x99'0000'00aau);
    EXPECT_EQ(memory.at64(0x2118), 0x1234u);
    EXPECT_EQ(memory.at64(0x2120), bench.clock);
    EXPECT_EQ(bench.registers.read(scratch_reg0 + 2), 0xaau);
    EXPECT_EQ(bench.mec.unhandled_packets().count("pm4_unsupported_src_sel", PACKET3_COPY_DATA),
              1u);
}

TEST_F(Pm4ExecutorTest, DmaDataCopiesAndFills) {
    memory.put(0x2000, {1, 2, 3, 4});
    kiq.put({header(PACKET3_DMA_DATA, 6), 0, 0x2000, 0, 0x6ff8, 0, 16});
    kiq.put({header(PACKET3_DMA_DATA, 6), 2u << 29, 0xabcdef01, 0, 0x7100, 0, 12});
    kiq.put({header(PACKET3_DMA_DATA, 6), 1u << 29, 0, 0, 0x7200, 0, 12});  // from GDS
    EXPECT_EQ(bench.run_kiq(), Turn::idle);
    EXPECT_EQ(memory.at32(0x7004), 4u) << "across a page";
    EXPECT_EQ(memory.at32(0x7108), 0xabcdef01u);
    EXPECT_EQ(memory.at32(0x710c), 0u);
    EXPECT_EQ(bench.mec.unhandled_packets().count("pm4_unsupported_dma_data", PACKET3_DMA_DATA),
              1u);
}

TEST_F(Pm4ExecutorTest, AtomicMemAddsAndLoops) {
    memory.put64(0x2000, 40);
    kiq.put({header(PACKET3_ATOMIC_MEM, 8), 0x2f, 0x2000, 0, 2, 0, 0, 0, 0});
    // Loop until 0x2008 holds 7, then store 1.
    kiq.put({header(PACKET3_ATOMIC_MEM, 8), 0x28 | 1u << 8, 0x2008, 0, 1, 0, 7, 0, 0});
    EXPECT_EQ(bench.run_kiq(), Turn::parked);
    EXPECT_EQ(memory.at64(0x2000), 42u);
    memory.put64(0x2008, 7);
    EXPECT_EQ(bench.run(bench.mec), Turn::idle);
    EXPECT_EQ(memory.at64(0x2008), 1u);
}

TEST_F(Pm4ExecutorTest, CondExecSkipsWhenZero) {
    const auto conditional = [&](uint32_t address) {
        kiq.put({header(PACKET3_COND_EXEC, 4), address, 0, 0, 5});
        kiq.put({header(PACKET3_WRITE_DATA, 4), to_memory, address + 0x100, 0, 1});
    };
    memory.put(0x2004, {1});
    conditional(0x2000);
    conditional(0x2004);
    kiq.put({header(PACKET3_PRED_EXEC, 1), 2u << 24 | 5});  // another XCC's
    kiq.put({header(PACKET3_WRITE_DATA, 4), to_memory, 0x2108, 0, 1});
    EXPECT_EQ(bench.run_kiq(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2100), 0u);
    EXPECT_EQ(memory.at32(0x2104), 1u);
    EXPECT_EQ(memory.at32(0x2108), 0u);
}

TEST_F(Pm4ExecutorTest, IndirectBufferRunsInItsVmid) {
    call({header(PACKET3_WRITE_DATA, 4), to_memory, 0x2000, 0, 0xdeadbeef}, 4);
    kiq.put({header(PACKET3_WRITE_DATA, 4), to_memory, 0x2000, 0, 1});
    EXPECT_EQ(bench.run_kiq(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000, 4), 0xdeadbeefu);
    EXPECT_EQ(memory.at32(0x2000, 0), 1u);
}

TEST_F(Pm4ExecutorTest, IndirectBufferChains) {
    memory.put(0x5000, {header(PACKET3_WRITE_DATA, 4), to_memory, 0x2000, 0, 5}, 4);
    call({header(PACKET3_INDIRECT_BUFFER, 3), 0x5000, 0, 1u << 20 | 5,
          header(PACKET3_WRITE_DATA, 4), to_memory, 0x2004, 0, 6},
         4);
    kiq.put({header(PACKET3_WRITE_DATA, 4), to_memory, 0x2008, 0, 7});
    EXPECT_EQ(bench.run_kiq(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000, 4), 5u);
    EXPECT_EQ(memory.at32(0x2004, 4), 0u) << "a chain does not come back";
    EXPECT_EQ(memory.at32(0x2008), 7u);
}

TEST_F(Pm4ExecutorTest, ABufferThatJumpsToItselfOnlySpendsBudget) {
    call({header(PACKET3_INDIRECT_BUFFER, 3), ib, 0, 1u << 20 | 4}, 4);
    bench.submit_kiq();
    for (int turn = 0; turn < 10; ++turn) {
        Budget budget;
        EXPECT_EQ(bench.mec.run(budget), Turn::more);
        EXPECT_TRUE(budget.spent());
    }
}

TEST_F(Pm4ExecutorTest, NestedBuffersAreRefused) {
    call({header(PACKET3_INDIRECT_BUFFER, 3), 0x5000, 0, 5, header(PACKET3_WRITE_DATA, 4),
          to_memory, 0x2000, 0, 1},
         4);
    EXPECT_EQ(bench.run_kiq(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000, 4), 1u);
    EXPECT_EQ(
        bench.mec.unhandled_packets().count("pm4_nested_indirect_buffer", PACKET3_INDIRECT_BUFFER),
        1u);
}

TEST_F(Pm4ExecutorTest, AUserBufferReachesShaderRegistersOnly) {
    call({header(PACKET3_SET_SH_REG, 2),
          0x10,
          1,
          header(PACKET3_WRITE_DATA, 4),
          0,
          0x100,
          0,
          2,
          header(PACKET3_SET_UCONFIG_REG, 2),
          0x500,
          3,
          header(PACKET3_COPY_DATA, 5),
          to_memory,
          0x100,
          0,
          0x2000,
          0,
          header(PACKET3_UNMAP_QUEUES, 5),
          2u << 4,
          0,
          0,
          0,
          0},
         4);
    bench.registers.write(0x100, 0x5ec3e7);
    EXPECT_EQ(bench.run_kiq(), Turn::idle);
    EXPECT_EQ(bench.registers.read(0x2c10), 1u);
    EXPECT_EQ(bench.registers.read(0x100), 0x5ec3e7u);
    EXPECT_EQ(bench.registers.read(0xc500), 0u);
    EXPECT_EQ(memory.at32(0x2000, 4), 0u);
    EXPECT_EQ(bench.mec.unhandled_packets().count("pm4_privileged_packet", PACKET3_UNMAP_QUEUES),
              1u);
    ASSERT_EQ(bench.interrupts.entries.size(), 3u);
    EXPECT_EQ(bench.interrupts.entries[0].source_id, 184) << "privileged register fault";
}

TEST_F(Pm4ExecutorTest, UnknownAndShortPacketsAreSkipped) {
    kiq.put({header(static_cast<pm4::Opcode>(0x7f), 2), 1, 2});
    kiq.put({header(static_cast<pm4::Opcode>(0x7f), 1), 1});
    kiq.put({header(PACKET3_RELEASE_MEM, 2), 1, 2});
    kiq.put({0, 0, 0x80000000, 0xffff1000});
    kiq.put({header(PACKET3_WRITE_DATA, 4), to_memory, 0x2000, 0, 1});
    EXPECT_EQ(bench.run_kiq(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000), 1u);
    EXPECT_EQ(bench.mec.unhandled_packets().count("pm4_unknown_opcode", 0x7f), 2u);
    EXPECT_EQ(bench.mec.unhandled_packets().count("pm4_short_packet", PACKET3_RELEASE_MEM), 1u);
}

TEST_F(Pm4ExecutorTest, APacketBeyondItsBufferEndsTheBuffer) {
    call({header(PACKET3_WRITE_DATA, 4), to_memory, 0x2000, 0, 1}, 4, 3);
    kiq.put({header(PACKET3_WRITE_DATA, 4), to_memory, 0x2004, 0, 2});
    EXPECT_EQ(bench.run_kiq(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000, 4), 0u);
    EXPECT_EQ(memory.at32(0x2004), 2u);
    EXPECT_EQ(bench.mec.unhandled_packets().count("pm4_packet_beyond_buffer", PACKET3_WRITE_DATA),
              1u);
}

TEST_F(Pm4ExecutorTest, AFaultInABufferGivesItUpButNotItsFence) {
    memory.break_page(4, ib);
    call({}, 4, 16);
    kiq.put({header(PACKET3_RELEASE_MEM, 7), 0, 1u << 29, 0x2000, 0, 1, 0, 0});
    EXPECT_EQ(bench.run_kiq(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000), 1u);
}

TEST_F(Pm4ExecutorTest, ARingOutOfReachIsTriedAgain) {
    kiq.put({header(PACKET3_WRITE_DATA, 4), to_memory, 0x2000, 0, 1});
    memory.break_page(0, test::Bench::kiq_ring);
    EXPECT_EQ(bench.run_kiq(), Turn::parked);
    memory.mend_page(0, test::Bench::kiq_ring);
    EXPECT_EQ(bench.run(bench.mec), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000), 1u);
}

TEST_F(Pm4ExecutorTest, AnIncompletePacketWaitsForItsRest) {
    kiq.put({header(PACKET3_WRITE_DATA, 4), to_memory});
    EXPECT_EQ(bench.run_kiq(), Turn::parked);
    kiq.put({0x2000, 0, 1});
    EXPECT_EQ(bench.run_kiq(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000), 1u);
}

TEST_F(Pm4ExecutorTest, TheRingWrapsAround) {
    for (uint32_t packet = 0; packet < 1000; ++packet) {  // 5000 dwords through 1024
        kiq.put({header(PACKET3_WRITE_DATA, 4), to_memory, 0x2000, 0, packet});
        ASSERT_EQ(bench.run_kiq(), Turn::idle);
        ASSERT_EQ(memory.at32(0x2000), packet);
    }
    EXPECT_EQ(memory.at32(test::Bench::kiq_rptr_report), 5000u % 1024);
}

TEST_F(Pm4ExecutorTest, AQueueMayTakeItselfOff) {
    kiq.put({header(PACKET3_WRITE_DATA, 4), 0, bench.dword(gc_9_4_3::regGRBM_GFX_CNTL), 0,
             2u << 2 | 1});
    kiq.put(
        {header(PACKET3_WRITE_DATA, 4), 0, bench.dword(gc_9_4_3::regCP_HQD_DEQUEUE_REQUEST), 0, 1});
    kiq.put({header(PACKET3_WRITE_DATA, 4), to_memory, 0x2000, 0, 1});
    EXPECT_EQ(bench.run_kiq(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000), 0u);
    EXPECT_EQ(bench.registers.read(bench.dword(gc_9_4_3::regCP_HQD_ACTIVE)), 0u);
    EXPECT_FALSE(bench.mec.ring_doorbell(test::Bench::kiq_doorbell, 100));
}

/// The same packets must leave the same memory, whatever a turn may spend.
class EveryBudget : public testing::TestWithParam<Budget> {
protected:
    static std::vector<std::byte> memory_after(Budget budget) {
        test::Bench bench;
        bench.start_kiq();
        bench.memory.put(ib,
                         {header(PACKET3_SET_SH_REG, 2),
                          0x10,
                          1,
                          header(PACKET3_DMA_DATA, 6),
                          2u << 29,
                          0x01020304,
                          0,
                          0x6001,
                          0,
                          5000,
                          header(PACKET3_ATOMIC_MEM, 8),
                          0x0f,
                          0x2000,
                          0,
                          2,
                          0,
                          0,
                          0,
                          0,
                          header(PACKET3_RELEASE_MEM, 7),
                          0,
                          1u << 29,
                          0x2004,
                          0,
                          9,
                          0,
                          0},
                         4);
        bench.kiq.put({header(PACKET3_DMA_DATA, 6), 2u << 29, 0xa5a5f00f, 0, 0x8000, 0, 9999});
        bench.kiq.put({header(PACKET3_DMA_DATA, 6), 0, 0x8003, 0, 0xc000, 0, 7777});
        bench.kiq.put({header(PACKET3_INDIRECT_BUFFER, 3), ib, 0, 27 | 4u << 24});
        bench.kiq.put({header(PACKET3_WRITE_DATA, 7), to_memory, 0x2ffc, 0, 1, 2, 3, 4});
        bench.kiq.put({header(PACKET3_WAIT_REG_MEM, 6), 3 | 1u << 4, 0x2ffc, 0, 1, 0xff, 4});
        bench.kiq.put({header(PACKET3_RELEASE_MEM, 7), 0, 2u << 29, 0x2000, 0, 5, 6, 0});
        EXPECT_EQ(bench.run_kiq(budget), Turn::idle);
        return bench.memory.bytes();
    }
};

TEST_P(EveryBudget, GivesTheSameResult) {
    EXPECT_EQ(memory_after(GetParam()), memory_after({}));
}

INSTANTIATE_TEST_SUITE_P(Budgets, EveryBudget,
                         testing::Values(Budget{1, 1}, Budget{1, 1 << 20}, Budget{64, 1},
                                         Budget{3, 100}));

TEST_F(Pm4ExecutorTest, AHostileDeviceLiesInTheDriversFencesAndReadPointer) {
    bench.mutator.start(1, std::array{Surface::write_backs}, 1);
    kiq.put({header(PACKET3_RELEASE_MEM, 7), 0, 2u << 29, 0x2000, 0, 0x11, 0x22, 0});
    kiq.put({header(PACKET3_RELEASE_MEM, 7), 0, 1u << 29, 0x2010, 0, 0x44, 0, 0});
    kiq.put({header(PACKET3_WRITE_DATA, 4), to_memory, 0x2020, 0, 0x55});
    EXPECT_EQ(bench.run_kiq(), Turn::idle);
    EXPECT_NE(memory.at32(0x2000), 0x11u);
    EXPECT_NE(memory.at32(0x2004), 0x22u);
    EXPECT_NE(memory.at32(0x2010), 0x44u);
    EXPECT_EQ(memory.at32(0x2014), 0u);
    EXPECT_NE(memory.at32(0x2020), 0x55u);
    EXPECT_NE(memory.at32(test::Bench::kiq_rptr_report), kiq.wptr());
}

/// 32 bits are the fence of a ring. Those of the scheduler's and of a process have 64.
TEST_F(Pm4ExecutorTest, ADeviceShiftsTheFencesOfRingsAndNothingElse) {
    bench.mutator.shift(compute_fence, 64, 2);
    kiq.put({header(PACKET3_RELEASE_MEM, 7), 0, 2u << 29, 0x2000, 0, 0x11, 0x22, 0});
    kiq.put({header(PACKET3_RELEASE_MEM, 7), 0, 1u << 29, 0x2010, 0, 0x44, 0, 0});
    kiq.put({header(PACKET3_WRITE_DATA, 4), to_memory, 0x2020, 0, 0x55});
    EXPECT_EQ(bench.run_kiq(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000), 0x11u);
    EXPECT_EQ(memory.at32(0x2004), 0x22u);
    EXPECT_EQ(memory.at32(0x2010), 0x44u + 64);
    EXPECT_EQ(memory.at32(0x2020), 0x55u);
    EXPECT_EQ(bench.mutator.mutations(), 1u);
}

TEST_F(Pm4ExecutorTest, AUsersMemoryIsToldTheTruth) {
    bench.mutator.start(1, std::array{Surface::write_backs}, 1);
    call({header(PACKET3_WRITE_DATA, 4), to_memory, 0x2000, 0, 0x55}, 4);
    EXPECT_EQ(bench.run_kiq(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000, 4), 0x55u);
}

/// A register may do anything when it is written: as much as a packet.
TEST_F(Pm4ExecutorTest, RegisterEffectsAreChargedToTheBudget) {
    uint32_t effects = 0;
    uint32_t last = 0;
    bench.registers.declare(0x100, 1, {.written = [&](uint32_t, uint32_t value) {
                                ++effects;
                                last = value;
                            }});
    constexpr uint32_t values = 500;
    std::vector<uint32_t> packet{header(PACKET3_WRITE_DATA, 3 + values), 1u << 16, 0x100, 0};
    for (uint32_t value = 1; value <= values; ++value) {
        packet.push_back(value);
    }
    kiq.put(packet);
    bench.submit_kiq();
    uint32_t turns = 0;
    for (Turn turn = Turn::more; turn == Turn::more; ++turns) {
        const uint32_t before = effects;
        Budget budget;
        turn = bench.mec.run(budget);
        ASSERT_LE(effects - before, 64u) << "in one turn";
    }
    EXPECT_EQ(effects, values) << "each once, over the turns";
    EXPECT_EQ(last, values);
    EXPECT_GT(turns, values / 64);
}

}  // namespace
}  // namespace gpuemu
