// SPDX-License-Identifier: GPL-2.0
// Purpose: the scheduler as the driver uses it: KIQ maps KCQs and the HIQ, the HIQ runs lists of
// processes.
#include "gpu-emu/ip/cp/hws.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "gpu-emu/ip/cp/aql.h"
#include "gpu-emu/ip/cp/pm4.h"
#include "gpu-emu/ip/vm_hub.h"
#include "gpu-emu/testing/cp_bench.h"

namespace gpuemu {
namespace {

namespace gc = gc_9_4_3;
using enum pm4::Opcode;
using pm4::header;
using Turn = Engine::Turn;

constexpr uint32_t to_memory = 5u << 8;
constexpr uint32_t hiq_doorbell = 0x40;
constexpr uint32_t hiq_mqd = 0x9000;
constexpr uint32_t run_list_ib = 0x8000;
constexpr uint32_t fence = 0x700;

/// A user's queue: everything of it has a number.
struct UserQueue {
    uint32_t mqd;
    uint32_t doorbell;
    uint32_t ring;  // in the process's address space, as the two below
    uint32_t rptr_report;
    uint32_t wptr;
};

class HwsTest : public testing::Test {
protected:
    HwsTest() : hiq(memory, 0x6000, 1024) {
        bench.start_kiq();
        bench.write_mqd(hiq_mqd, hiq, 0x600);
        // kgd_gfx_v9_hiq_mqd_load(): ME2 pipe 0 queue 0, engine_sel 1.
        kiq.put({header(PACKET3_MAP_QUEUES, 6), 1u << 18 | 1u << 26 | 1u << 29, hiq_doorbell << 2,
                 hiq_mqd, 0, 0, 0});
        bench.run_kiq();
    }

    /// Twice: what a queue waited for may have come in the same turn behind it.
    Turn run_hiq(Budget budget = {}) {
        bench.mec.ring_doorbell(hiq_doorbell, hiq.wptr());
        bench.run(bench.mec, budget);
        return bench.run(bench.mec, budget);
    }
    void set_resources(uint32_t vmid_mask, uint64_t queue_mask) {
        hiq.put({header(PACKET3_SET_RESOURCES, 7), vmid_mask | 1u << 29,
                 static_cast<uint32_t>(queue_mask), static_cast<uint32_t>(queue_mask >> 32), 0, 0,
                 0, 0});
    }

    void add_process(uint32_t pasid, uint64_t page_table_base) {
        std::vector<uint32_t> packet(20);  // pm4_mes_map_process_aldebaran
        packet[0] = header(PACKET3_MAP_PROCESS, 19);
        packet[1] = pasid;
        packet[2] = static_cast<uint32_t>(page_table_base);
        packet[3] = static_cast<uint32_t>(page_table_base >> 32);
        list.insert(list.end(), packet.begin(), packet.end());
    }
    void add_queue(const UserQueue& queue, uint32_t control = 1u << 4) {
        list.insert(list.end(), {header(PACKET3_MAP_QUEUES, 6), control | 1u << 29,
                                 queue.doorbell << 2, queue.mqd, 0, queue.wptr, 0});
    }
    void submit_run_list() {
        memory.put(run_list_ib, list);
        hiq.put({header(PACKET3_RUN_LIST, 3), run_list_ib, 0,
                 static_cast<uint32_t>(list.size()) | 1u << 23});
        list.clear();
    }
    void unmap(uint32_t queue_sel, uint32_t parameter = 0, uint32_t action = 0) {
        hiq.put({header(PACKET3_UNMAP_QUEUES, 5), action | queue_sel << 4, parameter, 0, 0, 0});
    }
    void query_status(uint64_t value) {
        hiq.put({header(PACKET3_QUERY_STATUS, 6), 2u << 30, 0, fence, 0,
                 static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)});
    }

    /// Puts a WRITE_DATA of `value` to 0x2000 into a user's ring and publishes it.
    void user_write(const UserQueue& queue, unsigned vmid, uint32_t value) {
        memory.put(queue.ring + published[queue.doorbell] * 4,
                   {header(PACKET3_WRITE_DATA, 4), to_memory, 0x2000, 0, value}, vmid);
        published[queue.doorbell] += 5;
        memory.put64(queue.wptr, published[queue.doorbell], vmid);
    }
    void write_user_mqd(const UserQueue& queue) {
        bench.write_mqd(queue.mqd, test::Ring(memory, queue.ring, 256), queue.rptr_report);
    }

    test::Bench bench;
    test::PlainMemory& memory = bench.memory;
    test::Ring& kiq = bench.kiq;
    test::Ring hiq;
    std::vector<uint32_t> list;
    std::map<uint32_t, uint64_t> published;

    const UserQueue a{
        .mqd = 0xa000, .doorbell = 0x1000, .ring = 0x1000, .rptr_report = 0x3000, .wptr = 0x3008};
    const UserQueue b{
        .mqd = 0xb000, .doorbell = 0x2000, .ring = 0x1000, .rptr_report = 0x3000, .wptr = 0x3008};
};

TEST_F(HwsTest, KiqMapsAKernelQueueAndTakesItOff) {
    test::Ring kcq(memory, 0x4000, 256);
    constexpr uint32_t mqd = 0xc000;
    constexpr uint32_t doorbell = 0x20;
    bench.write_mqd(mqd, kcq, 0x900);
    const auto map = [&] {  // ME1 pipe 2 queue 1
        kiq.put({header(PACKET3_MAP_QUEUES, 6), 1u << 13 | 2u << 16 | 1u << 29, doorbell << 2, mqd,
                 0, 0, 0});
    };
    map();
    EXPECT_EQ(bench.run_kiq(), Turn::idle);
    kcq.put({header(PACKET3_RELEASE_MEM, 7), 0, 2u << 29 | 2u << 24, 0x2000, 0, 7, 0, 0});
    ASSERT_TRUE(bench.mec.ring_doorbell(doorbell, kcq.wptr()));
    EXPECT_EQ(bench.run(bench.mec), Turn::idle);
    EXPECT_EQ(memory.at64(0x2000), 7u);
    ASSERT_EQ(bench.interrupts.entries.size(), 1u);
    EXPECT_EQ(bench.interrupts.entries[0].ring_id, 2 | 1 << 2 | 1 << 4);

    kiq.put({header(PACKET3_UNMAP_QUEUES, 5), 1u << 29, doorbell << 2, 0, 0, 0});
    EXPECT_EQ(bench.run_kiq(), Turn::idle);
    EXPECT_FALSE(bench.mec.ring_doorbell(doorbell, kcq.wptr()));
    EXPECT_EQ(bench.mqd_register(mqd, gc::regCP_HQD_PQ_RPTR), 8u);
    bench.select(1, 2, 1);
    EXPECT_EQ(bench.registers.read(bench.dword(gc::regCP_HQD_ACTIVE)), 0u);

    map();  // goes on where it was
    EXPECT_EQ(bench.run_kiq(), Turn::idle);
    kcq.put({header(PACKET3_WRITE_DATA, 4), to_memory, 0x2000, 0, 8});
    ASSERT_TRUE(bench.mec.ring_doorbell(doorbell, kcq.wptr()));
    EXPECT_EQ(bench.run(bench.mec), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000), 8u);
    EXPECT_EQ(bench.interrupts.entries.size(), 1u) << "the fence was not run twice";
}

TEST_F(HwsTest, TheKiqCannotBeTakenOffByItsDoorbell) {
    kiq.put({header(PACKET3_UNMAP_QUEUES, 5), 1u << 29, test::Bench::kiq_doorbell << 2, 0, 0, 0});
    kiq.put({header(PACKET3_WRITE_DATA, 4), to_memory, 0x2000, 0, 1});
    EXPECT_EQ(bench.run_kiq(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000), 1u);
}

TEST_F(HwsTest, PreemptWithoutUnmapOnlyWritesItsFence) {
    kiq.put({header(PACKET3_UNMAP_QUEUES, 5), 3 | 1u << 29, hiq_doorbell << 2, fence, 0, 77});
    EXPECT_EQ(bench.run_kiq(), Turn::idle);
    EXPECT_EQ(memory.at32(fence), 77u);
    EXPECT_TRUE(bench.mec.ring_doorbell(hiq_doorbell, 0));
}

class RunList : public HwsTest, public testing::WithParamInterface<Budget> {};

TEST_P(RunList, TwoProcesses) {
    write_user_mqd(a);
    write_user_mqd(b);
    user_write(a, 8, 0xaaaa);
    user_write(b, 9, 0xbbbb);
    set_resources(0xff00, 0xfcfcfcfc);
    add_process(0x8001, 0x1'0000'0001);
    add_queue(a);
    add_process(0x8002, 0x2'0000'0001);
    add_queue(b);
    submit_run_list();
    query_status(1);
    EXPECT_EQ(run_hiq(GetParam()), Turn::idle);
    EXPECT_EQ(memory.at64(fence), 1u);
    EXPECT_EQ(memory.at32(0x2000, 8), 0xaaaau) << "VMID 8, with its first packet";
    EXPECT_EQ(memory.at32(0x2000, 9), 0xbbbbu);
    EXPECT_EQ(memory.at32(0x3000, 8), 5u) << "read pointer report";

    const uint32_t gc_base = bench.dword(gc::regVM_CONTEXT0_PAGE_TABLE_BASE_ADDR_LO32);
    EXPECT_EQ(bench.registers.raw64(gc_base + 2 * 8), 0x1'0000'0001u);
    EXPECT_EQ(bench.registers.raw64(gc_base + 2 * 9), 0x2'0000'0001u);
    EXPECT_EQ(bench.registers.raw64(0x18000 + 0x0c0b + 2 * 9), 0x2'0000'0001u) << "MMHUB too";
    EXPECT_EQ(bench.registers.raw(0xc20 + 0x3f + 8), 0x80008001u);
    EXPECT_EQ(bench.registers.raw(0x10a0 + 8), 0x8001u) << "for the interrupts of the GC hub";
    EXPECT_EQ(bench.registers.raw(0x10a0 + 0x10 + 8), 0x8001u);

    user_write(a, 8, 0xaaab);
    EXPECT_TRUE(bench.mec.ring_doorbell(a.doorbell, published[a.doorbell]));
    EXPECT_EQ(bench.run(bench.mec, GetParam()), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000, 8), 0xaaabu);

    unmap(3);
    query_status(2);
    EXPECT_EQ(run_hiq(GetParam()), Turn::idle);
    EXPECT_EQ(memory.at64(fence), 2u);
    EXPECT_EQ(bench.mqd_register(a.mqd, gc::regCP_HQD_PQ_RPTR), 10u);
    EXPECT_FALSE(bench.mec.ring_doorbell(a.doorbell, 0)) << "nobody listens while evicted";

    user_write(b, 8, 0xbbbc);  // b is alone now and gets the first VMID
    memory.put(b.ring, {header(PACKET3_NOP, 4), 0, 0, 0, 0}, 8);
    add_process(0x8002, 0x2'0000'0001);
    add_queue(b);
    submit_run_list();
    EXPECT_EQ(run_hiq(GetParam()), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000, 8), 0xbbbcu) << "went on behind its first packet";
}

INSTANTIATE_TEST_SUITE_P(Budgets, RunList, testing::Values(Budget{}, Budget{1, 1}));

/// What the firmware's invalidation engine of each hub was asked for last, and nothing since.
class HwsInvalidates : public HwsTest {
protected:
    uint32_t asked(const VmHubLayout& hub) {
        constexpr uint32_t engine_of_firmware = 2;
        uint32_t& request =
            bench.registers.raw(at(hub.ip, hub.VM_INVALIDATE_ENG0_REQ) + engine_of_firmware);
        return std::exchange(request, 0);
    }
    void run(uint32_t pasid, uint64_t page_table_base) {
        set_resources(0xff00, 0xfcfcfcfc);
        add_process(pasid, page_table_base);
        submit_run_list();
        run_hiq();
    }
    void invalidate(uint32_t pasid, bool all_hubs) {
        kiq.put({header(PACKET3_INVALIDATE_TLBS, 1), 1 | uint32_t{all_hubs} << 4 | pasid << 5});
        bench.run_kiq();
    }

    const VmHubLayout gfx_hub = gfx_hub_layout(bench.profile),
                      mm_hub = mm_hub_layout(bench.profile);
    const uint32_t vmid_8 = gfx_hub.invalidation_of(1 << 8);
};

TEST_F(HwsInvalidates, TheTranslationsOfAProcess) {
    run(0x8001, 0x5001);
    asked(gfx_hub);
    asked(mm_hub);
    invalidate(0x8001, false);
    EXPECT_EQ(asked(gfx_hub), vmid_8);
    EXPECT_EQ(asked(mm_hub), 0u);
    invalidate(0x8001, true);
    EXPECT_EQ(asked(gfx_hub), vmid_8);
    EXPECT_EQ(asked(mm_hub), vmid_8);
    invalidate(0x8002, true);
    EXPECT_EQ(asked(gfx_hub), 0u) << "nobody's";
}

TEST_F(HwsInvalidates, TheTranslationsOfWhoTheDriverGaveAVmid) {
    constexpr uint32_t ATC_VMID0_PASID_MAPPING = 0xc20 + 0x3f;
    bench.registers.write(ATC_VMID0_PASID_MAPPING + 3, 1u << 31 | 0x8003);
    invalidate(0x8003, true);
    EXPECT_EQ(asked(gfx_hub), gfx_hub.invalidation_of(1 << 3));
    EXPECT_EQ(asked(mm_hub), mm_hub.invalidation_of(1 << 3));
}

TEST_F(HwsInvalidates, AVmidThatIsGivenToSomebodyElse) {
    run(0x8001, 0x5001);
    EXPECT_EQ(asked(gfx_hub), vmid_8);
    EXPECT_EQ(asked(mm_hub), vmid_8);
    run(0x8001, 0x5001);
    EXPECT_EQ(asked(gfx_hub), 0u) << "who keeps his has to ask";
    run(0x8001, 0x6001);
    EXPECT_EQ(asked(gfx_hub), vmid_8) << "other tables";
    run(0x8002, 0x6001);
    EXPECT_EQ(asked(gfx_hub), vmid_8) << "another process";
    submit_run_list();
    run(0x8002, 0x6001);
    EXPECT_EQ(asked(gfx_hub), vmid_8) << "it was away";
}

TEST_F(HwsTest, ANewRunListReplacesTheOldOne) {
    write_user_mqd(a);
    write_user_mqd(b);
    set_resources(0xff00, 0xfcfcfcfc);
    add_process(0x8001, 1);
    add_queue(a);
    submit_run_list();
    add_process(0x8002, 1);
    add_queue(b);
    submit_run_list();
    EXPECT_EQ(run_hiq(), Turn::idle);
    EXPECT_FALSE(bench.mec.ring_doorbell(a.doorbell, 0));
    EXPECT_TRUE(bench.mec.ring_doorbell(b.doorbell, 0));
}

TEST_F(HwsTest, UnmapSelectsByPasidStaticAndAll) {
    write_user_mqd(a);
    write_user_mqd(b);
    set_resources(0xff00, 0xfcfcfcfc);
    const auto map_both = [&] {
        add_process(0x8001, 1);
        add_queue(a);
        add_process(0x8002, 1);
        add_queue(b, 1u << 4 | 2u << 21);  // a static queue
        submit_run_list();
    };
    const auto mapped = [&](const UserQueue& queue) {
        return bench.mec.ring_doorbell(queue.doorbell, 0);
    };
    map_both();
    unmap(1, 0x8001);
    EXPECT_EQ(run_hiq(), Turn::idle);
    EXPECT_FALSE(mapped(a));
    EXPECT_TRUE(mapped(b));
    map_both();
    unmap(3);
    EXPECT_EQ(run_hiq(), Turn::idle);
    EXPECT_FALSE(mapped(a));
    EXPECT_TRUE(mapped(b));
    map_both();
    unmap(2, 0, 1);  // reset
    EXPECT_EQ(run_hiq(), Turn::idle);
    EXPECT_FALSE(mapped(a));
    EXPECT_FALSE(mapped(b));
    map_both();
    hiq.put({header(PACKET3_UNMAP_QUEUES, 5), 2u << 29, a.doorbell << 2, b.doorbell << 2, 0, 0});
    EXPECT_EQ(run_hiq(), Turn::idle);
    EXPECT_FALSE(mapped(a));
    EXPECT_FALSE(mapped(b));
    EXPECT_TRUE(bench.mec.ring_doorbell(hiq_doorbell, hiq.wptr())) << "the HIQ is not scheduled";
}

TEST_F(HwsTest, AQueueIsPreemptedWhileItWaits) {
    write_user_mqd(a);
    memory.put(a.ring, {header(PACKET3_WAIT_REG_MEM, 6), 3 | 1u << 4, 0x2100, 0, 5, ~0u, 4}, 8);
    published[a.doorbell] = 7;
    user_write(a, 8, 1);
    set_resources(0xff00, 0xfcfcfcfc);
    const auto map_a = [&] {
        add_process(0x8001, 1);
        add_queue(a);
        submit_run_list();
    };
    map_a();
    EXPECT_EQ(run_hiq(), Turn::parked);
    unmap(3);
    query_status(3);
    EXPECT_EQ(run_hiq(), Turn::idle);
    EXPECT_EQ(memory.at64(fence), 3u);
    EXPECT_EQ(bench.mqd_register(a.mqd, gc::regCP_HQD_PQ_RPTR), 0u);
    memory.put(0x2100, {5}, 8);
    map_a();
    EXPECT_EQ(run_hiq(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000, 8), 1u);
}

TEST_F(HwsTest, AQueueIsPreemptedInTheMiddleOfABuffer) {
    write_user_mqd(a);
    constexpr uint32_t ib = 0x4000;
    memory.put(ib,
               {header(PACKET3_ATOMIC_MEM, 8),
                0x0f,
                0x2000,
                0,
                1,
                0,
                0,
                0,
                0,
                header(PACKET3_WAIT_REG_MEM, 6),
                3 | 1u << 4,
                0x2100,
                0,
                5,
                ~0u,
                4,
                header(PACKET3_ATOMIC_MEM, 8),
                0x0f,
                0x2004,
                0,
                1,
                0,
                0,
                0,
                0},
               8);
    memory.put(a.ring, {header(PACKET3_INDIRECT_BUFFER, 3), ib, 0, 25}, 8);
    memory.put64(a.wptr, 4, 8);
    set_resources(0xff00, 0xfcfcfcfc);
    for (int time = 0; time < 3; ++time) {
        add_process(0x8001, 1);
        add_queue(a);
        submit_run_list();
        EXPECT_EQ(run_hiq(), Turn::parked);
        unmap(3);
        EXPECT_EQ(run_hiq(), Turn::idle);
    }
    memory.put(0x2100, {5}, 8);
    add_process(0x8001, 1);
    add_queue(a);
    submit_run_list();
    EXPECT_EQ(run_hiq(), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000, 8), 1u) << "what was done is not done again";
    EXPECT_EQ(memory.at32(0x2004, 8), 1u);
}

TEST_F(HwsTest, RunsOutOfVmidsAndSlotsWithoutHarm) {
    write_user_mqd(a);
    write_user_mqd(b);
    set_resources(0x0100, 0x4);
    add_process(0x8001, 1);
    add_queue(a);
    add_queue(b);  // no slot left
    add_process(0x8002, 1);
    add_queue(b);  // no VMID left
    list.insert(list.end(),
                {header(PACKET3_RUN_LIST, 3), run_list_ib, 0, 1u << 20 | 1u << 23 | 45});
    submit_run_list();
    query_status(4);
    EXPECT_EQ(run_hiq(), Turn::idle);
    EXPECT_EQ(memory.at64(fence), 4u);
    EXPECT_TRUE(bench.mec.ring_doorbell(a.doorbell, 0));
    EXPECT_FALSE(bench.mec.ring_doorbell(b.doorbell, 0));
    const UnhandledPackets& unhandled = bench.mec.unhandled_packets();
    EXPECT_EQ(unhandled.count("hws_no_free_slot", PACKET3_MAP_QUEUES), 1u);
    EXPECT_EQ(unhandled.count("hws_no_free_vmid", PACKET3_MAP_PROCESS), 1u);
    EXPECT_EQ(unhandled.count("hws_queue_without_process", PACKET3_MAP_QUEUES), 1u);
    EXPECT_EQ(unhandled.count("hws_oversubscribed_run_list", PACKET3_RUN_LIST), 1u);
}

TEST_F(HwsTest, AnMqdOutOfReachIsNotMapped) {
    set_resources(0xff00, 0xfcfcfcfc);
    memory.break_page(0, a.mqd);
    add_process(0x8001, 1);
    add_queue(a);
    submit_run_list();
    EXPECT_EQ(run_hiq(), Turn::idle);
    EXPECT_FALSE(bench.mec.ring_doorbell(a.doorbell, 0));
    EXPECT_EQ(bench.mec.unhandled_packets().count("map_queues_failed", PACKET3_MAP_QUEUES), 1u);
}

TEST_F(HwsTest, QueryStatusCanInterrupt) {
    hiq.put({header(PACKET3_QUERY_STATUS, 6), 3u << 30 | 0x55, 0, fence, 0, 9, 0});
    hiq.put({header(PACKET3_QUERY_STATUS, 6), 0x66, 0, fence, 0, 10, 0});
    EXPECT_EQ(run_hiq(), Turn::idle);
    EXPECT_EQ(memory.at64(fence), 9u);
    ASSERT_EQ(bench.interrupts.entries.size(), 2u);
    EXPECT_EQ(bench.interrupts.entries[0].data[0], 0x55u);
    EXPECT_EQ(bench.interrupts.entries[1].data[0], 0x66u);
}

TEST_F(HwsTest, MapsSdmaUserQueues) {
    // v9_sdma_mqd: 256 dwords, read pointer write-back to 0x3000.
    memory.put(a.mqd, {8u << 1 | 1u << 12, a.ring >> 8, 0, 0, 0, 0, 0, 0, 0, a.rptr_report});
    memory.put(a.ring, {5, 0x2000, 0, 0xf00d, 6, 0x77}, 8);  // FENCE, TRAP
    memory.put64(a.wptr, 24, 8);
    set_resources(0xff00, 0xfcfcfcfc);
    add_process(0x8001, 1);
    add_queue(a, 1u << 4 | 1u << 2 | 1u << 26);  // extended_engine_sel 1: SDMA 1
    submit_run_list();
    EXPECT_EQ(run_hiq(), Turn::idle);
    EXPECT_TRUE(bench.kicker.kicked.contains(&bench.sdma1));
    EXPECT_EQ(bench.run(bench.sdma1), Turn::idle);
    EXPECT_EQ(memory.at32(0x2000, 8), 0xf00du);
    EXPECT_EQ(memory.at64(0x3000, 8), 24u);
    ASSERT_EQ(bench.interrupts.entries.size(), 1u);
    const InterruptEntry& trap = bench.interrupts.entries[0];
    EXPECT_EQ(trap.client_id, 9);
    EXPECT_EQ(trap.source_id, 224);
    EXPECT_EQ(trap.vmid, 8);
    EXPECT_EQ(trap.pasid, 0x8001);

    unmap(2);
    EXPECT_EQ(run_hiq(), Turn::idle);
    EXPECT_EQ(memory.at64(a.mqd + 12), 24u) << "read pointer in its MQD";
    EXPECT_FALSE(bench.sdma1.ring_doorbell(a.doorbell, 24));
}

TEST_F(HwsTest, RefusesEnginesThatAreNotThere) {
    set_resources(0xff00, 0xfcfcfcfc);
    add_process(0x8001, 1);
    add_queue(a, 1u << 4 | 2u << 2 | 3u << 26);  // SDMA 11
    submit_run_list();
    kiq.put({header(PACKET3_MAP_QUEUES, 6), 4u << 26 | 1u << 29, 0, 0, 0, 0, 0});  // GFX
    EXPECT_EQ(run_hiq(), Turn::idle);
    EXPECT_EQ(bench.run_kiq(), Turn::idle);
    EXPECT_EQ(bench.mec.unhandled_packets().count("map_sdma_queue_failed", PACKET3_MAP_QUEUES), 1u);
    EXPECT_EQ(bench.mec.unhandled_packets().count("map_queues_failed", PACKET3_MAP_QUEUES), 1u);
}

}  // namespace
}  // namespace gpuemu
