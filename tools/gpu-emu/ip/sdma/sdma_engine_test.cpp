// SPDX-License-Identifier: GPL-2.0
// Purpose: each SDMA packet through a running GFX queue, as the driver builds them, and the queue
// registers.
#include "gpu-emu/ip/sdma/sdma_engine.h"

#include <gtest/gtest.h>

#include <vector>

#include "gpu-emu/testing/cp_bench.h"

namespace gpuemu {
namespace {

using Turn = Engine::Turn;
using enum sdma_4_4_2::QueueReg;

constexpr uint32_t base = 0x1260;
constexpr uint32_t gfx = base + 0x80;
constexpr uint32_t page = base + 0xd8;
constexpr uint32_t doorbell = 0x1e0;
constexpr uint32_t rptr_report = 0x800;
constexpr uint32_t ib = 0x4000;
constexpr uint32_t scratch = 0xc040;

/// Budgets with which everything must work the same.
class SdmaEngineTest : public testing::TestWithParam<Budget> {
protected:
    SdmaEngineTest() : ring(memory, 0x1000, 256) { start(gfx, doorbell, 0x1000); }

    /// As sdma_v4_4_2_gfx_resume() does it.
    void start(uint32_t queue, uint32_t index, uint32_t ring_base) {
        bench.registers.write(queue + RB_RPTR_ADDR_LO, rptr_report);
        bench.registers.write(queue + RB_BASE, ring_base >> 8);
        bench.registers.write(queue + DOORBELL, 1u << 28);
        bench.registers.write(queue + DOORBELL_OFFSET, index << 2);
        bench.registers.write(queue + RB_CNTL, 1u << 12 | 8u << 1 | 1);
    }
    Turn run() {
        bench.sdma0.ring_doorbell(doorbell, ring.wptr() * 4);
        return bench.run(bench.sdma0, GetParam());
    }
    void call(std::initializer_list<uint32_t> packets, unsigned vmid) {
        memory.put(ib, packets, vmid);
        ring.put({4 | vmid << 16, ib, 0, static_cast<uint32_t>(packets.size()), 0, 0});
    }

    test::Bench bench;
    test::PlainMemory& memory = bench.memory;
    test::Ring ring;
};

TEST_P(SdmaEngineTest, RingTestOfTheDriver) {
    ring.put({2, 0x2000, 0, 0, 0xdeadbeef});
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_EQ(memory.hubs_used, std::set<Hub>{Hub::mm});
    EXPECT_EQ(memory.at32(0x2000), 0xdeadbeefu);
    EXPECT_EQ(memory.at64(rptr_report), 20u) << "bytes";
    EXPECT_EQ(bench.registers.read(gfx + RB_RPTR), 20u);
}

TEST_P(SdmaEngineTest, AHostileDeviceLiesInTheDriversFencesAndReadPointer) {
    bench.mutator.start(1, std::array{Surface::write_backs}, 1);
    ring.put({5, 0x2000, 0, 7});
    call({5, 0x2000, 0, 7}, 4);
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_NE(memory.at32(0x2000), 7u);
    EXPECT_EQ(memory.at32(0x2000, 4), 7u) << "a user's memory is told the truth";
    EXPECT_NE(memory.at64(rptr_report), ring.wptr() * 4);
    EXPECT_EQ(bench.registers.read(gfx + RB_RPTR), ring.wptr() * 4);
}

TEST_P(SdmaEngineTest, AHostileDeviceFillsAProgramsMemoryWithSomethingElse) {
    bench.mutator.start(1, std::array{Surface::fills}, 1);
    ring.put({11, 0x2000, 0, 7, 3});
    call({11, 0x2000, 0, 7, 3}, 4);
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000), 7u) << "the driver's is told the truth";
    EXPECT_NE(memory.at32(0x2000, 4), 7u);
    EXPECT_EQ(memory.at64(rptr_report), ring.wptr() * 4) << "and so is everything else";
}

TEST_P(SdmaEngineTest, AQueueThatHangsWorksAgainAfterAReset) {
    ring.put({8 | 1u << 31 | 3u << 28, 0x2000, 0, 1, ~0u, 0});  // POLL_REGMEM: until 1 is there
    EXPECT_EQ(run(), Turn::parked);
    EXPECT_EQ(bench.registers.read(gfx + CONTEXT_STATUS) & 1, 1u) << "the guilty one";
    bench.sdma0.reset();
    EXPECT_EQ(bench.run(bench.sdma0, GetParam()), Turn::idle);
    EXPECT_EQ(bench.registers.read(gfx + CONTEXT_STATUS) & 1, 0u);
    EXPECT_EQ(bench.registers.read(gfx + RB_RPTR), 0u);

    // As sdma_v4_4_2_restore_queue(): behind what hung.
    bench.registers.write(gfx + RB_RPTR, ring.wptr() * 4);
    bench.registers.write(gfx + RB_WPTR, ring.wptr() * 4);
    start(gfx, doorbell, 0x1000);
    ring.put({5, 0x2004, 0, 7});
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2004), 7u);
}

TEST_P(SdmaEngineTest, FenceAndTrap) {
    ring.put({5, 0x2000, 0, 7, 6, 0xf1234567});
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000), 7u);
    ASSERT_EQ(bench.interrupts.entries.size(), 1u);
    const InterruptEntry& trap = bench.interrupts.entries[0];
    EXPECT_EQ(trap.client_id, 8);
    EXPECT_EQ(trap.source_id, 224);
    EXPECT_EQ(trap.ring_id, 0);
    EXPECT_EQ(trap.node_id, 0);
    EXPECT_EQ(trap.data[0], 0x01234567u);
}

TEST_P(SdmaEngineTest, CopiesAcrossWindows) {
    for (uint32_t at = 0; at < 0x2800; at += 4) {
        memory.put(0x5004 + at, {at * 3 + 1});
    }
    ring.put({1, 0x2800 - 1, 0, 0x5004, 0, 0x9ff8, 0});
    EXPECT_EQ(run(), Turn::idle);
    for (uint32_t at = 0; at < 0x2800; at += 4) {
        ASSERT_EQ(memory.at32(0x9ff8 + at), at * 3 + 1);
    }
    EXPECT_EQ(memory.at32(0x9ff8 + 0x2800), 0u);
}

TEST_P(SdmaEngineTest, ConstFillAndLongWrite) {
    ring.put({11, 0x5ffc, 0, 0x0badf00d, 16 - 1});
    std::vector<uint32_t> write{2, 0x6ff0, 0, 100 - 1};
    for (uint32_t dword = 0; dword < 100; ++dword) {
        write.push_back(dword);
    }
    ring.put(write);
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_EQ(memory.at32(0x6008), 0x0badf00du);
    EXPECT_EQ(memory.at32(0x600c), 0u);
    for (uint32_t dword = 0; dword < 100; ++dword) {
        ASSERT_EQ(memory.at32(0x6ff0 + dword * 4), dword);
    }
}

TEST_P(SdmaEngineTest, PtepdeCountsUp) {
    ring.put({12, 0x5ff0, 0, 0x71, 0x40000000, 0x200000, 1, 0x1000, 0, 5 - 1});
    EXPECT_EQ(run(), Turn::idle);
    for (uint64_t entry = 0; entry < 5; ++entry) {
        EXPECT_EQ(memory.at64(0x5ff0 + entry * 8),
                  0x4000'0000'0000'0071u | (0x1'0020'0000u + entry * 0x1000));
    }
    EXPECT_EQ(memory.at64(0x5ff0 + 40), 0u);
}

TEST_P(SdmaEngineTest, IndirectBufferRunsInItsVmid) {
    call({5, 0x2000, 0, 1, 0, 0, 0, 0}, 4);
    ring.put({5, 0x2000, 0, 2});
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000, 4), 1u);
    EXPECT_EQ(memory.at32(0x2000), 2u);
}

TEST_P(SdmaEngineTest, PollsMemoryAndShowsThatItHangs) {
    ring.put({8 | 3u << 28 | 1u << 31, 0x2000, 0, 5, 0xff, 0xfff << 16 | 4});
    ring.put({5, 0x2004, 0, 1});
    EXPECT_EQ(run(), Turn::parked);
    EXPECT_EQ(bench.registers.read(gfx + CONTEXT_STATUS), 1u) << "SELECTED";
    EXPECT_EQ(bench.registers.read(page + CONTEXT_STATUS), 4u) << "IDLE";
    EXPECT_EQ(bench.registers.read(base + 0x25), 0u);
    memory.put(0x2000, {0x705});
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2004), 1u);
    EXPECT_EQ(bench.registers.read(gfx + CONTEXT_STATUS), 4u);
    EXPECT_EQ(bench.registers.read(base + 0x25), 1u);
}

TEST_P(SdmaEngineTest, HdpFlushAsksOnceThenPolls) {
    uint32_t requests = 0;
    bench.registers.declare(0x101, 1, {.written = [&](uint32_t, uint32_t) { ++requests; }});
    ring.put({8 | 3u << 28 | 1u << 26, 0x100 << 2, 0x101 << 2, 2, 2, 0xfff << 16 | 10});
    EXPECT_EQ(run(), Turn::parked);
    EXPECT_EQ(run(), Turn::parked);
    EXPECT_EQ(requests, 1u);
    EXPECT_EQ(bench.registers.read(0x101), 2u);
    bench.registers.write(0x100, ~0u);
    EXPECT_EQ(run(), Turn::idle);
}

TEST_P(SdmaEngineTest, CondExeSkips) {
    memory.put(0x2000, {5, 6});
    ring.put({9, 0x2000, 0, 5, 4, 5, 0x2100, 0, 1});  // equal: runs the FENCE
    ring.put({9, 0x2004, 0, 5, 4, 5, 0x2104, 0, 1});  // not equal: skips it
    ring.put({5, 0x2108, 0, 1});
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2100), 1u);
    EXPECT_EQ(memory.at32(0x2104), 0u);
    EXPECT_EQ(memory.at32(0x2108), 1u);
}

TEST_P(SdmaEngineTest, AtomicsAndTheirLoop) {
    memory.put64(0x2000, 40);
    ring.put({10 | 0x2fu << 25, 0x2000, 0, 2, 0, 0, 0, 0});
    ring.put({10 | 1u << 16 | 0x28u << 25, 0x2008, 0, 1, 0, 7, 0, 0});  // loop until it holds 7
    ring.put({10 | 0x02u << 25, 0x2010, 0, 2, 0, 0, 0, 0});             // FMIN
    EXPECT_EQ(run(), Turn::parked);
    EXPECT_EQ(memory.at64(0x2000), 42u);
    memory.put64(0x2008, 7);
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_EQ(memory.at64(0x2008), 1u);
    EXPECT_EQ(
        bench.sdma0.unhandled_packets().count("sdma_unsupported_packet", sdma::SDMA_OP_ATOMIC), 1u);
}

TEST_P(SdmaEngineTest, TimestampAndRegisterWrite) {
    bench.registers.write(scratch, 0x11223344);
    ring.put({13 | 2u << 8, 0x2000, 0});
    ring.put({13, 1, 2});  // SET
    ring.put({14 | 0x3u << 28, scratch, 0xaabbccdd});
    ring.put({14 | 0xfu << 28, scratch + 1, 0x55});
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_EQ(memory.at64(0x2000), bench.clock);
    EXPECT_EQ(bench.registers.read(scratch), 0x1122ccddu) << "only the enabled bytes";
    EXPECT_EQ(bench.registers.read(scratch + 1), 0x55u);
}

TEST_P(SdmaEngineTest, AUserBufferReachesNoRegister) {
    call({14 | 0xfu << 28, scratch, 1, 8 | 3u << 28, scratch << 2, 0, 9, ~0u, 0xfff << 16}, 4);
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_EQ(bench.registers.read(scratch), 0u);
    EXPECT_EQ(
        bench.sdma0.unhandled_packets().count("sdma_register_refused", sdma::SDMA_OP_SRBM_WRITE),
        1u);
    EXPECT_EQ(
        bench.sdma0.unhandled_packets().count("sdma_register_refused", sdma::SDMA_OP_POLL_REGMEM),
        1u);
}

TEST_P(SdmaEngineTest, AUserBufferHasHdpFlushed) {
    call({8, 0, 0x80000000, 0, 0, 0, 5, 0x2000, 0, 7}, 4);
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000, 4), 7u) << "goes on behind the flush";
    EXPECT_EQ(
        bench.sdma0.unhandled_packets().count("sdma_register_refused", sdma::SDMA_OP_POLL_REGMEM),
        0u);
}

TEST_P(SdmaEngineTest, WhatIsNotModelledIsSkippedAtItsLength) {
    ring.put({1 | 1u << 27, 3, 0, 0x2000, 0, 0x2100, 0, 0x2200, 0});  // broadcast
    ring.put({1 | 4u << 8, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5});      // sub-window
    ring.put({2 | 1u << 8, 5, 5, 5, 5, 5, 5, 5, 1, 5, 5});            // tiled write
    ring.put({8 | 3u << 8, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5});      // verify
    ring.put({7, 5, 5});                                              // semaphore
    ring.put({11 | 1u << 8, 5, 5, 5, 5, 5});                          // multi fill
    ring.put({12 | 1u << 8, 5, 5, 5, 5, 5, 5, 5});                    // PTE copy
    ring.put({99});
    ring.put({15, 0, 16, 0, 2u << 16, 5, 5});  // no effect
    ring.put({5, 0x2300, 0, 1});
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2300), 1u) << "not out of step";
    EXPECT_EQ(memory.faults, 0u);
    EXPECT_EQ(bench.sdma0.unhandled_packets().count("sdma_unsupported_packet", sdma::SDMA_OP_COPY),
              2u);
    EXPECT_EQ(bench.sdma0.unhandled_packets().count("sdma_unsupported_packet", 99), 1u);
}

TEST_P(SdmaEngineTest, NestedAndTruncatedBuffers) {
    call({4, 0x5000, 0, 8, 0, 0, 5, 0x2000, 0, 1, 5, 0x2004}, 4);
    ring.put({5, 0x2008, 0, 1});
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000, 4), 1u);
    EXPECT_EQ(memory.at32(0x2008), 1u);
    EXPECT_EQ(bench.sdma0.unhandled_packets().count("sdma_nested_indirect_buffer",
                                                    sdma::SDMA_OP_INDIRECT),
              1u);
    EXPECT_EQ(
        bench.sdma0.unhandled_packets().count("sdma_packet_beyond_buffer", sdma::SDMA_OP_FENCE),
        1u);
}

TEST_P(SdmaEngineTest, FaultsInTheMiddle) {
    memory.break_page(0, 0x6000);
    memory.break_page(4, ib);
    ring.put({1, 0x2000 - 1, 0, 0x5000, 0, 0x8000, 0});  // source breaks off
    ring.put({11, 0x5800, 0, 1, 0x1000 - 1});            // destination breaks off
    ring.put({2, 0x5ffc, 0, 1, 7, 8});
    ring.put({12, 0x5ff8, 0, 0, 0, 1, 0, 0, 0, 3});
    ring.put({4 | 4u << 16, ib, 0, 8, 0, 0});
    ring.put({5, 0x2000, 0, 1});
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000), 1u) << "the fence comes all the same";
    EXPECT_EQ(memory.at32(0x5ffc), 0u) << "last written by PTEPDE";
    EXPECT_GE(memory.faults, 5u);
}

TEST_P(SdmaEngineTest, TheRingWrapsAround) {
    for (uint32_t packet = 0; packet < 300; ++packet) {
        ring.put({2, 0x2000, 0, 1, packet, ~packet});  // 6 dwords do not divide 256
        ASSERT_EQ(run(), Turn::idle);
        ASSERT_EQ(memory.at32(0x2004), ~packet);
    }
    EXPECT_EQ(memory.at64(rptr_report), 300u * 24);
}

TEST_P(SdmaEngineTest, TheDoorbellOfADisabledQueueIsKept) {
    bench.registers.write(gfx + RB_CNTL, 8u << 1);
    ring.put({5, 0x2000, 0, 1});
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000), 0u);
    bench.registers.write(gfx + RB_CNTL, 8u << 1 | 1);
    EXPECT_EQ(bench.run(bench.sdma0, GetParam()), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000), 1u);
}

TEST_P(SdmaEngineTest, RestartAfterAHangSkipsTheBadCommand) {
    ring.put({8 | 3u << 28 | 1u << 31, 0x2000, 0, 5, 0xff, 0xfff << 16 | 4});
    EXPECT_EQ(run(), Turn::parked);
    // sdma_v4_4_2_gfx_resume() of a guilty queue: both pointers behind the hang.
    const auto behind = static_cast<uint32_t>(ring.wptr() * 4);
    bench.registers.write(gfx + RB_CNTL, 8u << 1);
    bench.registers.write(gfx + RB_RPTR, behind);
    bench.registers.write(gfx + RB_WPTR, behind);
    bench.registers.write(gfx + RB_CNTL, 8u << 1 | 1);
    ring.put({5, 0x2004, 0, 1});
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2004), 1u);
}

TEST_P(SdmaEngineTest, PointersWrittenAsRegisters) {
    ring.put({5, 0x2000, 0, 1});
    bench.registers.write(gfx + RB_WPTR, 16);
    bench.registers.write(gfx + RB_WPTR_HI, 0);
    EXPECT_EQ(bench.run(bench.sdma0, GetParam()), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000), 1u);
}

TEST_P(SdmaEngineTest, ThePageQueueHasItsOwnRingId) {
    start(page, doorbell + 2, 0x3000);
    memory.put(0x3000, {6, 0});
    EXPECT_TRUE(bench.sdma0.ring_doorbell(doorbell + 2, 8));
    EXPECT_EQ(bench.run(bench.sdma0, GetParam()), Turn::idle);
    ASSERT_EQ(bench.interrupts.entries.size(), 1u);
    EXPECT_EQ(bench.interrupts.entries[0].ring_id, 1);
}

TEST_P(SdmaEngineTest, AQueueMayStopItself) {
    ring.put({14 | 0xfu << 28, gfx + RB_CNTL, 8u << 1});
    ring.put({5, 0x2000, 0, 1});
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000), 0u);
}

TEST_P(SdmaEngineTest, AUserQueueIsPreemptedInTheMiddleOfABuffer) {
    constexpr uint32_t mqd = 0xa000;
    memory.put(mqd, {8u << 1 | 1u << 12, 0x1000 >> 8});
    memory.put(0x1000, {4 | 3u << 16, ib, 0, 22, 0, 0}, 8);  // names VMID 3, runs in 8
    memory.put(ib,
               {10 | 0x0fu << 25,
                0x2000,
                0,
                1,
                0,
                0,
                0,
                0,
                8 | 3u << 28 | 1u << 31,
                0x2100,
                0,
                5,
                0xff,
                0xfff << 16,
                10 | 0x0fu << 25,
                0x2004,
                0,
                1,
                0,
                0,
                0,
                0},
               8);
    memory.put64(0x3000, 24, 8);
    const MapRequest request{.owner = {.mqd = mqd, .pasid = 5, .scheduled = true},
                             .doorbell = 0x900,
                             .vmid = 8,
                             .wptr_address = 0x3000};
    for (int time = 0; time < 3; ++time) {
        ASSERT_TRUE(bench.sdma0.map_queue(request));
        EXPECT_EQ(bench.run(bench.sdma0, GetParam()), Turn::parked);
        bench.sdma0.unmap_queues([](const QueueOwner& owner, auto) { return owner.pasid == 5; });
        EXPECT_EQ(bench.run(bench.sdma0, GetParam()), Turn::idle);
    }
    memory.put(0x2100, {5}, 8);
    ASSERT_TRUE(bench.sdma0.map_queue(request));
    EXPECT_EQ(bench.run(bench.sdma0, GetParam()), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000, 8), 1u) << "what was done is not done again";
    EXPECT_EQ(memory.at32(0x2004, 8), 1u);
}

TEST_P(SdmaEngineTest, UserQueuesRunOut) {
    memory.put(0xa000, {8u << 1, 0x10});
    const MapRequest request{.owner = {.mqd = 0xa000}, .doorbell = 0x900, .vmid = 8};
    for (int queue = 0; queue < 8; ++queue) {
        EXPECT_TRUE(bench.sdma0.map_queue(request));
    }
    EXPECT_FALSE(bench.sdma0.map_queue(request));
}

INSTANTIATE_TEST_SUITE_P(Budgets, SdmaEngineTest,
                         testing::Values(Budget{}, Budget{1, 1}, Budget{64, 1},
                                         Budget{1, 1 << 20}));

}  // namespace
}  // namespace gpuemu
