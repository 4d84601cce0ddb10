// SPDX-License-Identifier: GPL-2.0
// Purpose: several XCCs: what each has of its own, and how those of a partition run one queue. Set
// up as the driver does it: a KIQ for each XCC, an HIQ for each partition, run lists. Thread: the
// test's. Does not model: nothing.
#include "gpu-emu/ip/cp/xcc_group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gpu-emu/ip/cp/aql.h"
#include "gpu-emu/ip/cp/pm4.h"
#include "gpu-emu/ip/regs/osssys_4_4_2.h"
#include "gpu-emu/testing/xcc_bench.h"

namespace gpuemu {
namespace {

namespace gc = gc_9_4_3;
using enum pm4::Opcode;
using pm4::header;

constexpr unsigned vmid = 8;
constexpr uint32_t user_mqds = 0x6000, run_list_ib = 0x8000;
constexpr uint32_t user_doorbell = 0x1000;
constexpr uint32_t fence = 0x700;
// In the address space of the process.
constexpr uint32_t user_ring = 0x1000, read_index = 0x3000, write_index = 0x3008;
constexpr uint32_t signal = 0x5000, mailbox = 0x5100;
constexpr uint32_t user_slots = 16;

class XccGroupTest : public testing::Test, protected test::XccBench {
protected:
    /// init_mqd_v9_4_3().
    void write_user_mqds(unsigned count, bool aql, uint32_t pm4_target = 0) {
        for (unsigned xcc = 0; xcc < count; ++xcc) {
            const uint32_t mqd = user_mqds + xcc * mqd_stride;
            set_mqd(mqd, mqd_dword(gc::regCP_HQD_PQ_BASE), user_ring >> 8);
            set_mqd(mqd, mqd_dword(gc::regCP_HQD_PQ_CONTROL), 7 | (aql && xcc != 0 ? 1u << 27 : 0));
            set_mqd(mqd, mqd_dword(gc::regCP_HQD_PQ_RPTR_REPORT_ADDR), read_index);
            set_mqd(mqd, mqd_dword(gc::regCP_HQD_AQL_CONTROL), aql);
            set_mqd(mqd, 225, pm4_target);
            set_mqd(mqd, 226, mqd_stride);
        }
    }

    void run_list(unsigned first, uint32_t control = 1u << 4, uint32_t pasid = 0x8001) {
        std::vector<uint32_t> list(16);  // pm4_mes_map_process
        list[0] = header(PACKET3_MAP_PROCESS, 15);
        list[1] = pasid;
        list[2] = 0x1000 * (first + 1) + 1;
        list.insert(list.end(), {header(PACKET3_MAP_QUEUES, 6), control | 1u << 29,
                                 user_doorbell << 2, user_mqds, 0, write_index, 0});
        memory.put(run_list_ib, list);
        hiqs[first].put({header(PACKET3_RUN_LIST, 3), run_list_ib, 0,
                         static_cast<uint32_t>(list.size()) | 1u << 23});
    }
    void unmap_all(unsigned first) {
        hiqs[first].put({header(PACKET3_UNMAP_QUEUES, 5), 3u << 4, 0, 0, 0, 0});
    }
    void query_status(unsigned first, uint32_t value) {
        hiqs[first].put({header(PACKET3_QUERY_STATUS, 6), 2u << 30, 0, fence, 0, value, 0});
    }

    /// A barrier packet whose completion raises an event.
    void publish(uint32_t type = aql::BARRIER_AND, uint32_t dependency = 0) {
        memory.put(user_ring + written % user_slots * aql::packet_bytes,
                   {type, 0, dependency, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, signal, 0}, vmid);
        ++written;
        memory.put64(write_index, written, vmid);
        engines.ring_doorbell(user_doorbell, written - 1);
    }
    void make_signal(uint64_t value) {
        memory.put64(signal + aql::SIGNAL_VALUE, value, vmid);
        memory.put64(signal + aql::SIGNAL_EVENT_MAILBOX_PTR, mailbox, vmid);
        memory.put(signal + aql::SIGNAL_EVENT_ID, {7}, vmid);
    }
    uint64_t completed() { return memory.at64(signal + aql::SIGNAL_VALUE, vmid); }

    void run_held() {
        ASSERT_NE(held_back, nullptr);
        kicker.kick(*held_back);
        run();
    }

    /// A user's AQL queue on all XCCs of one partition, as far as the driver has a part in it.
    void map_aql_queue() {
        load_hiq(0, xccs);
        write_user_mqds(xccs, true);
        run_list(0);
        submit_hiq(0);
        run();
    }

    uint64_t written = 0;
};

TEST_F(XccGroupTest, PacketsNameTheRegistersOfTheirOwnXcc) {
    constexpr uint32_t scratch = 0xa000 + gc::regSCRATCH_REG0.offset;
    for (unsigned xcc = 0; xcc < xccs; ++xcc) {  // gfx_v9_4_3_ring_test_ring()
        kiqs[xcc].put({header(PACKET3_SET_UCONFIG_REG, 2), scratch - 0xc000, 0xd0 + xcc});
        kiqs[xcc].put({header(PACKET3_WAIT_REG_MEM, 6), 3, scratch, 0, 0xd0 + xcc, ~0u, 4});
        kiqs[xcc].put({header(PACKET3_WRITE_DATA, 4), 0, 0x18000 + 0xbc3, 0, xcc});  // MMHUB
        submit_kiq(xcc);
        run();
        EXPECT_EQ(registers.read(0x20000 * xcc + scratch), 0xd0 + xcc);
        EXPECT_EQ(registers.raw(0x18000 + 0xbc3), xcc) << "there is one at that place";
    }
}

TEST_F(XccGroupTest, ADoorbellThatTwoXccsHaveIsRungAtBoth) {
    load_hiq(0, xccs);
    query_status(0, 1);
    submit_hiq(0);
    EXPECT_EQ(kicker.kicked.size(), xccs);
    run();
    EXPECT_EQ(memory.at32(fence), 1u);
}

TEST_F(XccGroupTest, AFenceOfTheSchedulerWaitsForAllXccs) {
    load_hiq(0, xccs);
    submit_hiq(0);
    run();
    query_status(0, 1);
    submit_hiq(0);
    run("mec3");
    EXPECT_EQ(memory.at32(fence), 0u);
    run_held();
    EXPECT_EQ(memory.at32(fence), 1u);
}

TEST_F(XccGroupTest, APacketOfAllXccsCompletesOnce) {
    make_signal(3);
    map_aql_queue();
    EXPECT_EQ(completed(), 3u);
    for (int packet = 0; packet < 3; ++packet) {
        publish();
    }
    run();
    EXPECT_EQ(completed(), 0u);
    EXPECT_EQ(memory.at64(read_index, vmid), 3u);
    ASSERT_EQ(interrupts.entries.size(), 3u);
    for (const InterruptEntry& entry : interrupts.entries) {
        EXPECT_EQ(entry.node_id, 1) << "the leader's";
        EXPECT_EQ(entry.pasid, 0x8001);
    }
    const std::string state = engines.describe();
    for (unsigned xcc = 0; xcc < xccs; ++xcc) {
        EXPECT_NE(state.find("mec" + std::to_string(xcc) + " me 1"), std::string::npos) << state;
    }
}

TEST_F(XccGroupTest, TheLeaderIsTheLastToBeDoneWithAPacket) {
    make_signal(2);
    map_aql_queue();
    publish();
    publish();
    run("mec2");
    EXPECT_EQ(completed(), 2u);
    EXPECT_EQ(memory.at64(read_index, vmid), 0u) << "what the MQDs of the others forbid";
    EXPECT_EQ(memory.at32(user_ring, vmid) & 0xff, uint32_t{aql::BARRIER_AND});
    run_held();
    EXPECT_EQ(completed(), 0u);
    EXPECT_EQ(memory.at32(user_ring, vmid) & 0xff, uint32_t{aql::INVALID});
}

TEST_F(XccGroupTest, FollowersDoNotBeginWithAPacketBeforeTheLeader) {
    make_signal(2);
    map_aql_queue();
    publish();
    publish();
    run("mec0");
    const std::string state = engines.describe();
    for (const char* follower : {"mec1", "mec2", "mec3"}) {
        const std::size_t line = state.find(follower + std::string(" me 1"));
        ASSERT_NE(line, std::string::npos) << state;
        EXPECT_NE(state.substr(line, state.find('\n', line) - line).find("rptr 16 wptr 32"),
                  std::string::npos)
            << state;
    }
    run_held();
    EXPECT_EQ(completed(), 0u);
}

TEST_F(XccGroupTest, AQueueThatIsTakenOffGoesOnWhereEachXccWas) {
    make_signal(4);
    map_aql_queue();
    publish();
    publish();
    run("mec0");  // the followers are one packet ahead
    unmap_all(0);
    run_list(0);
    submit_hiq(0);
    run("mec0");
    run_held();
    EXPECT_EQ(completed(), 2u);
    publish();
    publish();
    run();
    EXPECT_EQ(completed(), 0u);
    EXPECT_EQ(memory.at64(read_index, vmid), 4u);
}

TEST_F(XccGroupTest, APm4QueueIsOfOneXcc) {
    load_hiq(0, xccs);
    write_user_mqds(xccs, false, 2);
    memory.put(user_ring,
               {header(PACKET3_RELEASE_MEM, 7), 0, 2u << 29 | 2u << 24, 0x2000, 0, 7, 0, 0}, vmid);
    memory.put64(write_index, 8, vmid);
    run_list(0);
    submit_hiq(0);
    run();
    EXPECT_EQ(memory.at64(0x2000, vmid), 7u);
    ASSERT_EQ(interrupts.entries.size(), 1u);
    EXPECT_EQ(interrupts.entries[0].node_id, 9) << "of the third XCC, on the third AID";
}

TEST_F(XccGroupTest, APm4QueueOfAnXccThatIsNotInThePartitionIsMappedNowhere) {
    load_hiq(0, xccs);
    write_user_mqds(xccs, false, xccs);
    run_list(0);
    query_status(0, 1);
    submit_hiq(0);
    run();
    EXPECT_EQ(memory.at32(fence), 1u);
    const std::string state = engines.describe();
    EXPECT_EQ(state.find("vmid 8 pasid"), std::string::npos) << state;
    EXPECT_NE(state.find("mec0 pm4_queue_of_no_xcc"), std::string::npos) << state;
    EXPECT_EQ(state.find("mec1 pm4_queue_of_no_xcc"), std::string::npos) << "said once";
}

TEST_F(XccGroupTest, PartOfABufferIsForSomeXccs) {
    partitions.divide(2);
    for (unsigned xcc = 0; xcc < xccs; ++xcc) {
        constexpr uint32_t first_of_partition = 1u << 24;
        kiqs[xcc].put({header(PACKET3_PRED_EXEC, 1), first_of_partition | 5});
        kiqs[xcc].put({header(PACKET3_WRITE_DATA, 4), 5u << 8, 0x7000 + 4 * xcc, 0, 1});
        submit_kiq(xcc);
    }
    run();
    EXPECT_EQ(memory.at32(0x7000), 1u);
    EXPECT_EQ(memory.at32(0x7004), 0u);
    EXPECT_EQ(memory.at32(0x7008), 1u);
    EXPECT_EQ(memory.at32(0x700c), 0u);
}

TEST_F(XccGroupTest, PartitionsKnowNothingOfEachOther) {
    partitions.divide(4);
    make_signal(2);
    write_user_mqds(1, true);
    for (const unsigned first : {1u, 3u}) {
        load_hiq(first, 1);
        run_list(first, 1u << 4, 0x8000 + first);
        query_status(first, first);
        submit_hiq(first);
        run();
        EXPECT_EQ(memory.at32(fence), first);
    }
    // Both gave their process the first VMID: each in its own hubs and for its own node.
    for (const unsigned xcc : {1u, 3u}) {
        const auto table = [&](uint32_t base) { return registers.raw64(base + 2 * vmid); };
        EXPECT_EQ(table(dword(xcc, gc::regVM_CONTEXT0_PAGE_TABLE_BASE_ADDR_LO32)),
                  0x1000 * (xcc + 1) + 1);
        EXPECT_EQ(table(profile.ip(HwId::MMHUB, xcc).bases[0] + 0xc0b), 0x1000 * (xcc + 1) + 1);
        const IpInstance& osssys = profile.ip(HwId::OSSSYS);
        registers.write(at(osssys, osssys_4_4_2::regIH_VMID_LUT_INDEX), 4 * xcc + 1);
        EXPECT_EQ(registers.read(at(osssys, osssys_4_4_2::regIH_VMID_0_LUT) + vmid), 0x8000 + xcc);
    }
    EXPECT_EQ(registers.raw64(dword(0, gc::regVM_CONTEXT0_PAGE_TABLE_BASE_ADDR_LO32) + 2 * vmid),
              0u);
    unmap_all(1);
    submit_hiq(1);
    run();
    const std::string state = engines.describe();
    EXPECT_EQ(state.find("mec1 me 1"), std::string::npos) << state;
    EXPECT_NE(state.find("mec3 me 1"), std::string::npos) << state;
}

TEST_F(XccGroupTest, SdmaInstancesAreCountedWithinThePartition) {
    constexpr uint32_t queue_of_sdma1 = 1u << 4 | 3u << 26;  // engine_sel: the second
    partitions.divide(2);
    load_hiq(2, 2);
    run_list(2, queue_of_sdma1);
    submit_hiq(2);
    run();
    std::string state = engines.describe();
    EXPECT_NE(state.find("sdma9 rlc0 vmid 8"), std::string::npos) << state;
    EXPECT_EQ(state.find("sdma9 rlc1"), std::string::npos) << "mapped by the leader alone";
    load_hiq(0, 2);
    run_list(0, queue_of_sdma1);
    submit_hiq(0);
    run();
    state = engines.describe();
    EXPECT_NE(state.find("sdma1 rlc0 vmid 8"), std::string::npos) << state;
    EXPECT_NE(state.find("sdma9 rlc0 vmid 8"), std::string::npos) << "not that partition's";
}

}  // namespace
}  // namespace gpuemu
