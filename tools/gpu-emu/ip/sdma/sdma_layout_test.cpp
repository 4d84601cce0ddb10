// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of sdma_layouts(), and of an SDMA 5 instance where it differs from SDMA 4.
#include "gpu-emu/ip/sdma/sdma_layout.h"

#include <gtest/gtest.h>

#include "gpu-emu/ip/vm_hub.h"
#include "gpu-emu/testing/cp_bench.h"

namespace gpuemu {
namespace {

TEST(SdmaLayouts, Sdma4InstancesHaveBasesOfTheirOwn) {
    const auto layouts = sdma_layouts(*find_profile("mi300x"));
    ASSERT_EQ(layouts.size(), 2u);
    EXPECT_EQ(layouts[1].first_dword, 0x1860u);
    EXPECT_EQ(layouts[1].hub, Hub::mm);
    EXPECT_EQ(layouts[1].ih_client, 9);
}

/// sdma_v4_4_2_process_trap_irq(): the client is one of four, the node says of which AID.
TEST(SdmaLayouts, EachAidHasFourAndOneHubForThem) {
    const auto layouts = sdma_layouts(*find_profile("mi308x"));
    ASSERT_EQ(layouts.size(), 16u);
    constexpr uint8_t client[] = {8, 9, 1, 4};
    for (uint8_t instance = 0; instance < layouts.size(); ++instance) {
        const auto aid = static_cast<uint8_t>(instance / 4);
        EXPECT_EQ(layouts[instance].ih_client, client[instance % 4]);
        EXPECT_EQ(layouts[instance].ih_node, 4 * aid);
        EXPECT_EQ(layouts[instance].hub, (Hub{Hub::Kind::mm, aid}));
    }
}

TEST(SdmaLayouts, Sdma5InstancesLieInTheSegmentsOfGc) {
    const auto layouts = sdma_layouts(*find_profile("navi21"));
    ASSERT_EQ(layouts.size(), 4u);
    constexpr uint32_t first[] = {0x1260, 0x1860, 0x1c000, 0x1c400};  // sdma_v5_2_get_reg_offset()
    constexpr uint8_t client[] = {8, 9, 1, 5};                        // sdma_v5_2_seq_to_irq_id()
    for (std::size_t instance = 0; instance < layouts.size(); ++instance) {
        EXPECT_EQ(layouts[instance].first_dword, first[instance]);
        EXPECT_EQ(layouts[instance].hub, Hub::gfx);
        EXPECT_EQ(layouts[instance].ih_client, client[instance]);
    }
}

TEST(Sdma5, InvalidatesAndFlushesAndReachesMemoryThroughTheGcHub) {
    test::Bench bench;
    const Profile navi21 = *find_profile("navi21");
    RegisterFile registers(1u << 20);
    const EngineContext context{navi21,           registers,    bench.memory,
                                bench.interrupts, bench.kicker, [] { return uint64_t{1}; },
                                bench.mutator};
    const SdmaLayout layout = sdma_layouts(navi21).at(3);
    SdmaEngine engine(context, 3, layout);
    const uint32_t gfx = layout.first_dword + sdma_4_4_2::regSDMA_GFX_RB_CNTL.offset;
    constexpr uint32_t doorbell = 0x228, ring_base = 0x1000;
    registers.write(gfx + sdma_4_4_2::RB_BASE, ring_base >> 8);
    registers.write(gfx + sdma_4_4_2::DOORBELL, 1u << 28);
    registers.write(gfx + sdma_4_4_2::DOORBELL_OFFSET, doorbell << 2);
    registers.write(gfx + sdma_4_4_2::RB_CNTL, 8u << 1 | 1);

    test::Ring ring(bench.memory, ring_base, 256);
    const VmHubLayout gfx_hub = gfx_hub_layout(navi21), mm_hub = mm_hub_layout(navi21);
    const uint32_t request = gfx_hub.invalidation_of(1 << 3);
    // sdma_v5_2_ring_emit_vm_flush(): engine 7 of GC, none of MMHUB.
    ring.put({8 | 4u << 8 | 7u << 16 | 0x1fu << 24, request, ~0u, 1 << 3});
    ring.put({17, 0, 0, 0, 0});  // sdma_v5_2_ring_emit_mem_sync()
    ring.put({5 | 3u << 16, 0x2000, 0, 0x99});
    ring.put({6, 0});
    bench.memory.hubs_used.clear();
    EXPECT_TRUE(engine.ring_doorbell(doorbell, ring.wptr() * 4));
    EXPECT_EQ(bench.run(engine), Engine::Turn::idle);
    EXPECT_EQ(bench.memory.at32(0x2000), 0x99u);
    EXPECT_EQ(registers.read(at(gfx_hub.ip, gfx_hub.VM_INVALIDATE_ENG0_REQ) + 7), request);
    EXPECT_EQ(registers.read(at(mm_hub.ip, mm_hub.VM_INVALIDATE_ENG0_REQ) + 7), 0u);
    EXPECT_EQ(bench.memory.hubs_used, std::set<Hub>{Hub::gfx});
    ASSERT_EQ(bench.interrupts.entries.size(), 1u);
    EXPECT_EQ(bench.interrupts.entries[0].client_id, 5);
    EXPECT_EQ(engine.unhandled_packets().describe(), "");
}

}  // namespace
}  // namespace gpuemu
