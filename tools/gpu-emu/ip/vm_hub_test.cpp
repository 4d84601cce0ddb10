// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of VmHub for both hubs.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/ip/vm_hub.h"

#include <gtest/gtest.h>

#include "gpu-emu/ip/ih.h"
#include "gpu-emu/ip/regs/osssys_4_4_2.h"
#include "gpu-emu/testing/test_memory.h"

namespace gpuemu {
namespace {

class VmHubTest : public testing::TestWithParam<Hub> {
protected:
    VmHubTest() { hub.reset(ResetKind::cold); }

    /// As gmc_v9_0_vm_fault_interrupt_state() does it.
    void enable_interrupts() {
        constexpr uint32_t bits =
            1 << 9 | 1 << 11 | 1 << 13 | 1 << 15 | 1 << 17 | 1 << 19 | 1 << 21;
        for (unsigned vmid = 0; vmid < 16; ++vmid) {
            registers.raw(address(layout.VM_CONTEXT0_CNTL) + vmid) |= bits;
        }
    }

    uint32_t address(Reg reg) const { return at(layout.ip, reg); }

    const Profile& profile = *find_profile("mi300x");
    const VmHubLayout layout =
        GetParam() == Hub::gfx ? gfx_hub_layout(profile) : mm_hub_layout(profile);
    RegisterFile registers{2u << 20};
    RecordingSink sink;
    uint64_t clock = 1;
    Tlb tlb;
    VmHub hub{{profile, registers, sink, [this] { return clock; }}, layout, tlb};
};

TEST_P(VmHubTest, FrameBufferIsWhereTheProfileSays) {
    EXPECT_EQ(registers.read(address(layout.MC_VM_FB_LOCATION_BASE)), 0x8000u);
    EXPECT_EQ(registers.read(address(layout.MC_VM_FB_LOCATION_TOP)), 0x803fu);
    EXPECT_EQ(registers.read(address(layout.MC_VM_FB_OFFSET)), 0u);
}

TEST_P(VmHubTest, AnInvalidationIsDoneAtOnceAndTheSemaphoreFree) {
    constexpr uint64_t va = 0x7000;
    for (uint32_t engine = 0; engine < 18; ++engine) {
        EXPECT_EQ(registers.read(address(layout.VM_INVALIDATE_ENG0_SEM) + engine), 1u);
        EXPECT_EQ(registers.read(address(layout.VM_INVALIDATE_ENG0_ACK) + engine), 0u)
            << "nobody has asked";
        tlb.keep(8, va, {});
        tlb.keep(9, va, {});
        registers.write(address(layout.VM_INVALIDATE_ENG0_REQ) + engine,
                        layout.invalidation_of(1 << 8));
        EXPECT_EQ(registers.read(address(layout.VM_INVALIDATE_ENG0_ACK) + engine), 1u << 8);
        EXPECT_EQ(tlb.find(8, va), nullptr);
        EXPECT_NE(tlb.find(9, va), nullptr);
    }
}

TEST_P(VmHubTest, StatusCannotBeWritten) {
    for (const uint32_t dword : {address(layout.VM_L2_PROTECTION_FAULT_STATUS),
                                 address(layout.VM_L2_PROTECTION_FAULT_ADDR_LO32),
                                 address(layout.VM_L2_PROTECTION_FAULT_ADDR_LO32) + 1,
                                 address(layout.VM_INVALIDATE_ENG0_ACK) + 17}) {
        registers.raw(dword) = 5;
        registers.write(dword, 0);
        EXPECT_EQ(registers.read(dword), 5u);
    }
    EXPECT_EQ(registers.read_only_writes().size(), 4u);
}

TEST_P(VmHubTest, AnInvalidationOfOneLevelLeavesTheOther) {
    for (const uint32_t level : {layout.invalidate_l2_ptes, layout.invalidate_l1_ptes}) {
        tlb.keep(8, 0x7000, {});
        registers.write(address(layout.VM_INVALIDATE_ENG0_REQ), level | 1 << 8);
        EXPECT_NE(tlb.find(8, 0x7000), nullptr);
        EXPECT_EQ(registers.read(address(layout.VM_INVALIDATE_ENG0_ACK)), 1u << 8);
    }
}

TEST_P(VmHubTest, InvalidationOfBothCachesIsOfAllVmids) {
    tlb.keep(0, 0x7000, {});
    tlb.keep(8, 0x7000, {});
    registers.write(address(layout.VM_L2_CNTL2), 1);
    EXPECT_NE(tlb.find(0, 0x7000), nullptr) << "L1 only";
    registers.write(address(layout.VM_L2_CNTL2), 3 | 1 << 21);
    EXPECT_EQ(tlb.find(0, 0x7000), nullptr);
    EXPECT_EQ(tlb.find(8, 0x7000), nullptr);
    EXPECT_EQ(registers.read(address(layout.VM_L2_CNTL2)), 1u << 21) << "clears itself";
}

TEST_P(VmHubTest, FirstFaultIsLatchedUntilCleared) {
    const auto status = [&] {
        return registers.read(address(layout.VM_L2_PROTECTION_FAULT_STATUS));
    };
    hub.report({GetParam(), 8, 0x7f12'3456'7000, true, VmFault::Reason::not_valid});
    EXPECT_EQ(status() >> 20 & 0xf, 8u);
    EXPECT_EQ(status() >> 18 & 1, 1u);
    EXPECT_EQ(status() & 1, 0u);
    EXPECT_EQ(registers.raw64(address(layout.VM_L2_PROTECTION_FAULT_ADDR_LO32)), 0x7'f123'4567u);
    hub.report({GetParam(), 9, 0x1000, false, VmFault::Reason::no_context});
    EXPECT_EQ(status() >> 20 & 0xf, 8u);
    EXPECT_EQ(status() & 1, 1u);  // MORE_FAULTS
    registers.write(address(layout.VM_L2_PROTECTION_FAULT_CNTL), 1);
    EXPECT_EQ(status(), 0u);
    hub.report({GetParam(), 9, 0x1000, false, VmFault::Reason::no_memory});
    EXPECT_EQ(status() >> 20 & 0xf, 9u);
}

TEST_P(VmHubTest, AFaultIsAnInterruptAsTheDriverReadsIt) {
    const bool gfx = GetParam() == Hub::gfx;
    enable_interrupts();
    registers.write(at(profile.ip(HwId::OSSSYS),
                       gfx ? osssys_4_4_2::regIH_VMID_0_LUT : osssys_4_4_2::regIH_VMID_0_LUT_MM) +
                        8,
                    0x8003);
    hub.report({GetParam(), 8, 0x7f12'3456'7890, true, VmFault::Reason::not_valid});
    ASSERT_EQ(sink.entries.size(), 1u);
    const InterruptEntry& entry = sink.entries[0];
    EXPECT_EQ(entry.client_id, gfx ? 0x1b : 0x12);  // UTCL2, VMC
    EXPECT_EQ(entry.source_id, 0);
    EXPECT_EQ(entry.ring_id, 0x08);
    EXPECT_EQ(entry.vmid, 8);
    EXPECT_EQ(entry.vmid_src, gfx ? 0 : 1);
    EXPECT_EQ(entry.node_id, gfx ? 1 : 0);
    EXPECT_EQ(entry.pasid, 0x8003);
    const uint64_t page = entry.data[0] | uint64_t{entry.data[1] & 0xf} << 32;
    EXPECT_EQ(page << 12, 0x7f12'3456'7000u);
    EXPECT_EQ(entry.data[1] & 0xf0, 0x20u);  // write, no retry

    hub.report({GetParam(), 8, 0x1000, false, VmFault::Reason::not_valid});
    ASSERT_EQ(sink.entries.size(), 2u);
    EXPECT_EQ(sink.entries[1].data[1], 0x40u);  // read
    hub.report({GetParam(), 8, 0x2000, true, VmFault::Reason::not_writeable});
    ASSERT_EQ(sink.entries.size(), 3u);
    EXPECT_EQ(sink.entries[2].ring_id, 0x20);
}

TEST_P(VmHubTest, TheDriverEnablesTheInterruptOfEachReason) {
    const VmFault::Reason reasons[] = {VmFault::Reason::no_context, VmFault::Reason::below_start,
                                       VmFault::Reason::not_valid, VmFault::Reason::not_writeable,
                                       VmFault::Reason::no_memory};
    uint64_t page = 0;
    for (const VmFault::Reason reason : reasons) {
        hub.report({GetParam(), 3, ++page << 12, true, reason});
    }
    hub.report({GetParam(), 99, 0, true, VmFault::Reason::no_context});  // no such VMID
    EXPECT_TRUE(sink.entries.empty());
    enable_interrupts();
    for (const VmFault::Reason reason : reasons) {
        hub.report({GetParam(), 3, ++page << 12, true, reason});
    }
    EXPECT_EQ(sink.entries.size(), 5u);
}

TEST_P(VmHubTest, AnEngineThatAsksAgainIsOneFaultForAWhile) {
    enable_interrupts();
    const VmFault fault{GetParam(), 8, 0x1000, false, VmFault::Reason::not_valid};
    hub.report(fault);
    clock += VmHub::repeat_ticks - 1;
    hub.report(fault);
    EXPECT_EQ(sink.entries.size(), 1u);
    clock += 1;
    hub.report(fault);
    EXPECT_EQ(sink.entries.size(), 2u);
    hub.report({GetParam(), 9, 0x1000, false, VmFault::Reason::not_valid});
    hub.report({GetParam(), 9, 0x1000, true, VmFault::Reason::not_valid});
    hub.report({GetParam(), 9, 0x2000, true, VmFault::Reason::not_valid});
    EXPECT_EQ(sink.entries.size(), 5u);
}

TEST_P(VmHubTest, FaultsThatAlternateAreStillRepeated) {
    enable_interrupts();
    for (int turn = 0; turn < 1000; ++turn) {
        for (uint64_t page = 1; page <= 8; ++page) {
            hub.report({GetParam(), 3, page << 12, false, VmFault::Reason::not_valid});
        }
        clock += 100;
    }
    EXPECT_EQ(sink.entries.size(), 8u);
    clock += VmHub::repeat_ticks;
    hub.report({GetParam(), 3, 1 << 12, false, VmFault::Reason::not_valid});
    EXPECT_EQ(sink.entries.size(), 9u);
}

TEST_P(VmHubTest, ManyFaultsAreNotManyMoreInterrupts) {
    enable_interrupts();
    for (uint64_t page = 1; page <= 10'000; ++page) {
        hub.report({GetParam(), 3, page << 12, false, VmFault::Reason::not_valid});
    }
    EXPECT_LE(sink.entries.size(), 64u) << "in 100 ms";
    clock += VmHub::repeat_ticks;
    sink.entries.clear();
    hub.report({GetParam(), 3, 20'000 << 12, false, VmFault::Reason::not_valid});
    EXPECT_EQ(sink.entries.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Hubs, VmHubTest, testing::Values(Hub::gfx, Hub::mm),
                         [](const auto& info) { return info.param == Hub::gfx ? "gfx" : "mm"; });

/// Registers of gfxhub_v2_1.c and mmhub_v2_0.c, entries as gmc_v10_0_process_interrupt() reads
/// them.
TEST(HubsOfSeveralXccs, AFaultIsOfTheirNodeAndOfTheProcessThatHasTheVmidThere) {
    const Profile& profile = *find_profile("mi308x");
    RegisterFile registers{2u << 20};
    TestMemory memory;
    Mutator mutator;
    const auto clock = [] { return uint64_t{1}; };
    Ih ih{{profile, registers, memory, [] {}, clock, mutator}};
    RecordingSink sink;
    const VmHubLayout layout = gfx_hub_layout(profile, 2);
    Tlb tlb;
    VmHub hub{{profile, registers, sink, clock}, layout, tlb};
    hub.reset(ResetKind::cold);
    const uint32_t lut = at(profile.ip(HwId::OSSSYS), osssys_4_4_2::regIH_VMID_0_LUT);
    const uint32_t index = at(profile.ip(HwId::OSSSYS), osssys_4_4_2::regIH_VMID_LUT_INDEX);
    registers.write(index, 9);  // by the scheduler: the third XCC, on the third AID
    registers.write(lut + 8, 0x8009);
    registers.write(index, 0);  // by the driver, for its VMIDs of the first XCC
    registers.write(lut + 8, 0x8000);
    registers.write(lut + 3, 0x8001);
    registers.write(index, 6);
    for (const unsigned vmid : {8u, 3u}) {
        registers.raw(at(layout.ip, layout.VM_CONTEXT0_CNTL) + vmid) = 1 << 15;
        hub.report({{Hub::Kind::gfx, 2}, vmid, 0x1000, false, VmFault::Reason::not_valid});
    }
    ASSERT_EQ(sink.entries.size(), 2u);
    EXPECT_EQ(sink.entries[0].node_id, 9);
    EXPECT_EQ(sink.entries[0].pasid, 0x8009);
    EXPECT_EQ(sink.entries[1].pasid, 0) << "not whose VMID 3 it is at the first XCC";
    EXPECT_EQ(registers.read(index), 6u) << "as it was";
    const VmHubLayout first_layout = gfx_hub_layout(profile, 0);
    Tlb first_tlb;
    VmHub first{{profile, registers, sink, clock}, first_layout, first_tlb};
    first.reset(ResetKind::cold);
    registers.raw(at(first_layout.ip, first_layout.VM_CONTEXT0_CNTL) + 3) = 1 << 15;
    first.report({Hub::gfx, 3, 0x1000, false, VmFault::Reason::not_valid});
    ASSERT_EQ(sink.entries.size(), 3u);
    EXPECT_EQ(sink.entries[2].pasid, 0x8001);
}

TEST(Navi21Hubs, LieElsewhereAndSayWhoTheyAre) {
    const Profile& profile = *find_profile("navi21");
    for (const Hub hub : {Hub::gfx, Hub::mm}) {
        const bool gfx = hub == Hub::gfx;
        const uint32_t base = gfx ? 0x1260 + 0x15fc : 0x1a000 + 0x6c0;  // CONTEXT0_CNTL
        RegisterFile registers{1u << 20};
        RecordingSink sink;
        const VmHubLayout layout = gfx ? gfx_hub_layout(profile) : mm_hub_layout(profile);
        Tlb tlb;
        VmHub block{{profile, registers, sink, [] { return uint64_t{1}; }}, layout, tlb};
        block.reset(ResetKind::cold);
        EXPECT_EQ(registers.read(gfx ? 0x1260 + 0x16fc : 0x1a000 + 0x86c), 0x8000u);
        tlb.keep(3, 0x7000, {});
        // gfxhub_v2_1_get_invalidate_req()
        registers.write(base + 0x23 + 17, 1u << 3 | 0x1fu << 19);
        EXPECT_EQ(registers.read(base + 0x35 + 17), 1u << 3) << "VM_INVALIDATE_ENG17_ACK";
        EXPECT_EQ(tlb.find(3, 0x7000), nullptr);
        registers.raw(base + 8) = 1 << 15;  // VALID_PROTECTION_FAULT_ENABLE_INTERRUPT
        block.report({hub, 8, 0x7f12'3456'7000, false, VmFault::Reason::not_valid});
        EXPECT_NE(registers.read(gfx ? 0x1260 + 0x15c8 : 0x1a000 + 0x68c), 0u);
        ASSERT_EQ(sink.entries.size(), 1u);
        EXPECT_EQ(sink.entries[0].client_id, gfx ? 0x1b : 0x12);
        EXPECT_EQ(sink.entries[0].vmid_src, gfx ? 0 : 1);
        EXPECT_EQ(sink.entries[0].node_id, 0);
        EXPECT_EQ(sink.entries[0].data[0], 0xf1234567u);
    }
}

}  // namespace
}  // namespace gpuemu
