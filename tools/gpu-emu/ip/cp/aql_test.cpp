// SPDX-License-Identifier: GPL-2.0
// Purpose: AQL queues: publication, barriers, signals, PM4 buffers in AQL packets, preemption.
#include "gpu-emu/ip/cp/aql.h"

#include <gtest/gtest.h>

#include "gpu-emu/ip/cp/pm4.h"
#include "gpu-emu/testing/cp_bench.h"

namespace gpuemu {
namespace {

namespace gc = gc_9_4_3;
using enum pm4::Opcode;
using pm4::header;
using Turn = Engine::Turn;

constexpr unsigned vmid = 8;
constexpr uint32_t ring_base = 0x1000;
constexpr uint32_t slots = 16;
constexpr uint32_t read_index = 0x3000;
constexpr uint32_t doorbell = 0x1000;

class AqlTest : public testing::TestWithParam<Budget> {
protected:
    AqlTest() {
        bench.select(1, 0, 2);
        write(gc::regCP_HQD_VMID, vmid);
        write(gc::regCP_HQD_PQ_BASE, ring_base >> 8);
        write(gc::regCP_HQD_PQ_CONTROL, 7);  // 256 dwords: 16 packets
        write(gc::regCP_HQD_PQ_RPTR_REPORT_ADDR, read_index);
        write(gc::regCP_HQD_PQ_DOORBELL_CONTROL, 1u << 30 | doorbell << 2);
        write(gc::regCP_HQD_AQL_CONTROL, 1);
        write(gc::regCP_HQD_ACTIVE, 1);
    }
    void write(Reg reg, uint32_t value) { bench.registers.write(bench.dword(reg), value); }

    /// Puts a packet at the write index and rings for it.
    void publish(aql::Packet packet) {
        memory.put(ring_base + written % slots * aql::packet_bytes, packet, vmid);
        bench.mec.ring_doorbell(doorbell, written);
        ++written;
    }
    static aql::Packet packet(uint32_t type, uint32_t completion = 0) {
        aql::Packet made{};
        made[0] = type;
        made[14] = completion;
        return made;
    }
    static aql::Packet barrier(uint32_t type, std::initializer_list<uint32_t> dependencies,
                               uint32_t completion = 0) {
        aql::Packet made = packet(type, completion);
        unsigned dword = 2;
        for (const uint32_t handle : dependencies) {
            made[dword] = handle;
            dword += 2;
        }
        return made;
    }
    void make_signal(uint32_t handle, uint64_t value, uint32_t mailbox = 0, uint32_t event = 0) {
        memory.put64(handle + aql::SIGNAL_VALUE, value, vmid);
        memory.put64(handle + aql::SIGNAL_EVENT_MAILBOX_PTR, mailbox, vmid);
        memory.put(handle + aql::SIGNAL_EVENT_ID, {event}, vmid);
    }
    uint64_t signal_value(uint32_t handle) { return memory.at64(handle + aql::SIGNAL_VALUE, vmid); }
    Turn run() { return bench.run(bench.mec, GetParam()); }
    uint32_t header_type(uint64_t slot) {
        return memory.at32(ring_base + slot * aql::packet_bytes, vmid) & 0xff;
    }

    test::Bench bench;
    test::PlainMemory& memory = bench.memory;
    uint64_t written = 0;
};

TEST_P(AqlTest, ABarrierWithoutDependenciesCompletes) {
    make_signal(0x4000, 1, 0x4100, 0x2a);
    publish(barrier(aql::BARRIER_AND, {}, 0x4000));
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_EQ(signal_value(0x4000), 0u);
    EXPECT_EQ(memory.at64(0x4000 + aql::SIGNAL_START_TS, vmid), bench.clock);
    EXPECT_EQ(memory.at64(0x4000 + aql::SIGNAL_END_TS, vmid), bench.clock);
    EXPECT_EQ(memory.at64(0x4100, vmid), 0x2au) << "mailbox";
    ASSERT_EQ(bench.interrupts.entries.size(), 1u);
    EXPECT_EQ(bench.interrupts.entries[0].source_id, 181);
    EXPECT_EQ(bench.interrupts.entries[0].data[0], 0x2au);
    EXPECT_EQ(bench.interrupts.entries[0].vmid, vmid);
    EXPECT_EQ(header_type(0), aql::INVALID);
    EXPECT_EQ(memory.at64(read_index, vmid), 1u);
}

TEST_P(AqlTest, ASignalWithoutMailboxRaisesNothing) {
    make_signal(0x4000, 5);
    publish(packet(aql::KERNEL_DISPATCH, 0x4000));
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_EQ(signal_value(0x4000), 4u) << "decremented, not cleared";
    EXPECT_TRUE(bench.interrupts.entries.empty());
    EXPECT_EQ(bench.mec.unhandled_packets().count("aql_dispatch_not_run", aql::KERNEL_DISPATCH),
              1u);
}

TEST_P(AqlTest, BarrierAndWaitsForAll) {
    make_signal(0x4000, 1);
    make_signal(0x4040, 1);
    make_signal(0x4080, 1);
    publish(barrier(aql::BARRIER_AND, {0x4000, 0x4040}, 0x4080));
    EXPECT_EQ(run(), Turn::parked);
    make_signal(0x4000, 0);
    EXPECT_EQ(run(), Turn::parked);
    make_signal(0x4040, 0);
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_EQ(signal_value(0x4080), 0u);
}

TEST_P(AqlTest, BarrierOrWaitsForOne) {
    make_signal(0x4000, 1);
    make_signal(0x4040, 1);
    publish(barrier(aql::BARRIER_OR, {0x4000, 0x4040}));
    EXPECT_EQ(run(), Turn::parked);
    make_signal(0x4040, 0);
    EXPECT_EQ(run(), Turn::idle);
}

TEST_P(AqlTest, BarriersChain) {
    for (uint32_t handle = 0x4000; handle < 0x4400; handle += 0x40) {
        make_signal(handle, 1);
    }
    for (uint32_t link = 0; link < 15; ++link) {
        publish(barrier(aql::BARRIER_AND, {0x4000 + link * 0x40}, 0x4000 + (link + 1) * 0x40));
    }
    EXPECT_EQ(run(), Turn::parked);
    make_signal(0x4000, 0);
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_EQ(signal_value(0x43c0), 0u);
    EXPECT_EQ(memory.at64(read_index, vmid), 15u);
}

TEST_P(AqlTest, BarrierValueComparesUnderItsMask) {
    make_signal(0x4000, 0x105);
    aql::Packet value = packet(aql::VENDOR_SPECIFIC | aql::AMD_AQL_FORMAT_BARRIER_VALUE << 16);
    value[2] = 0x4000;
    value[4] = 3;     // value
    value[6] = 0xff;  // mask
    value[8] = 2;     // less than
    publish(value);
    EXPECT_EQ(run(), Turn::parked);
    make_signal(0x4000, 0x102);
    EXPECT_EQ(run(), Turn::idle);
}

TEST_P(AqlTest, APacketNotYetPublishedIsWaitedFor) {
    memory.put(ring_base, packet(aql::INVALID), vmid);
    bench.mec.ring_doorbell(doorbell, 0);
    EXPECT_EQ(run(), Turn::parked);
    memory.put(ring_base, packet(aql::BARRIER_AND), vmid);
    EXPECT_EQ(run(), Turn::idle);
}

TEST_P(AqlTest, RunsAPm4BufferBeforeItCompletes) {
    make_signal(0x4000, 1);
    make_signal(0x4100, 1);
    memory.put(0x5000,
               {header(PACKET3_WAIT_REG_MEM, 6), 3 | 1u << 4, 0x2100, 0, 5, ~0u, 4,
                header(PACKET3_WRITE_DATA, 4), 5u << 8, 0x2000, 0, 0x77},
               vmid);
    aql::Packet jump = packet(aql::VENDOR_SPECIFIC | aql::AMD_AQL_FORMAT_PM4_IB << 16, 0x4000);
    jump[1] = header(PACKET3_INDIRECT_BUFFER, 3);
    jump[2] = 0x5000;
    jump[4] = 12;
    publish(jump);
    publish(barrier(aql::BARRIER_AND, {}, 0x4100));
    EXPECT_EQ(run(), Turn::parked);
    EXPECT_EQ(signal_value(0x4000), 1u);
    EXPECT_EQ(signal_value(0x4100), 1u);
    memory.put(0x2100, {5}, vmid);
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000, vmid), 0x77u);
    EXPECT_EQ(signal_value(0x4000), 0u);
    EXPECT_EQ(signal_value(0x4100), 0u);
    EXPECT_EQ(memory.at64(read_index, vmid), 2u);
}

TEST_P(AqlTest, AFaultInAPm4BufferStillCompletesThePacket) {
    make_signal(0x4000, 1);
    memory.break_page(vmid, 0x5000);
    aql::Packet jump = packet(aql::VENDOR_SPECIFIC | aql::AMD_AQL_FORMAT_PM4_IB << 16, 0x4000);
    jump[2] = 0x5000;
    jump[4] = 12;
    publish(jump);
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_EQ(signal_value(0x4000), 0u);
}

TEST_P(AqlTest, TheRingWrapsAroundAndMayBeFull) {
    for (int round = 0; round < 5; ++round) {
        for (uint32_t packet_number = 0; packet_number < slots; ++packet_number) {
            memory.put(ring_base + written++ % slots * aql::packet_bytes, packet(aql::BARRIER_AND),
                       vmid);
        }
        bench.mec.ring_doorbell(doorbell, written - 1);
        EXPECT_EQ(run(), Turn::idle);
        EXPECT_EQ(memory.at64(read_index, vmid), written);
    }
}

TEST_P(AqlTest, DoorbellsOutOfOrderDoNotGoBack) {
    for (int i = 0; i < 4; ++i) {
        memory.put(ring_base + i * aql::packet_bytes, packet(aql::BARRIER_AND), vmid);
    }
    bench.mec.ring_doorbell(doorbell, 3);
    bench.mec.ring_doorbell(doorbell, 1);
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_EQ(memory.at64(read_index, vmid), 4u);
    bench.mec.ring_doorbell(doorbell, ~uint64_t{0});
    bench.mec.ring_doorbell(doorbell, 0);
    EXPECT_EQ(run(), Turn::idle) << "neither means anything";
}

TEST_P(AqlTest, UnknownTypesComplete) {
    make_signal(0x4000, 2);
    publish(packet(9, 0x4000));
    publish(packet(aql::VENDOR_SPECIFIC | 7 << 16, 0x4000));
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_EQ(signal_value(0x4000), 0u);
    EXPECT_EQ(bench.mec.unhandled_packets().count("aql_unknown_type", 9), 1u);
    EXPECT_EQ(bench.mec.unhandled_packets().count("aql_unknown_vendor_format", 7), 1u);
}

TEST_P(AqlTest, ASignalOutOfReachHarmsNobody) {
    make_signal(0x4000, 1);
    publish(packet(aql::BARRIER_AND, 0xfffff000));
    publish(packet(aql::BARRIER_AND, 0x4000));
    EXPECT_EQ(run(), Turn::idle);
    EXPECT_EQ(signal_value(0x4000), 0u);
    EXPECT_TRUE(bench.interrupts.entries.empty());
}

INSTANTIATE_TEST_SUITE_P(Budgets, AqlTest, testing::Values(Budget{}, Budget{1, 1}));

}  // namespace
}  // namespace gpuemu
