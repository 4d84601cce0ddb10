// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of Ih: the ring as vega20_ih.c reads it.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/ip/ih.h"

#include <gtest/gtest.h>

#include <functional>

#include "gpu-emu/ip/pasid_luts.h"
#include "gpu-emu/ip/regs/osssys_4_4_2.h"
#include "gpu-emu/testing/test_memory.h"

namespace gpuemu {
namespace {

namespace oss = osssys_4_4_2;

constexpr uint64_t ring = 0x10000, writeback = 0x9000;
constexpr uint32_t enable = 1, write_back = 1 << 8, overflow_enable = 1 << 16, interrupt = 1 << 17;
constexpr uint32_t bus_space = 1u << 28;
constexpr uint32_t doorbell = 0x1e8;

class IhTest : public testing::Test {
protected:
    IhTest() { ih.reset(ResetKind::cold); }

    void set(Reg reg, uint32_t value) { registers.write(at(profile.ip(HwId::OSSSYS), reg), value); }
    uint32_t get(Reg reg) { return registers.read(at(profile.ip(HwId::OSSSYS), reg)); }

    /// A ring of 2^log2_dwords dwords, in the order of vega20_ih_enable_ring().
    void enable_ring(uint32_t log2_dwords, uint32_t flags = interrupt) {
        set(oss::regIH_RB_BASE, ring >> 8);
        set(oss::regIH_RB_BASE_HI, 0);
        set(oss::regIH_RB_CNTL, enable | log2_dwords << 1 | write_back | overflow_enable | flags);
        set(oss::regIH_RB_WPTR_ADDR_LO, writeback);
        set(oss::regIH_RB_WPTR_ADDR_HI, 0);
        set(oss::regIH_RB_WPTR, 0);
        set(oss::regIH_RB_RPTR, 0);
        set(oss::regIH_DOORBELL_RPTR, doorbell | 1u << 28);
        interrupts = 0;
    }

    const Profile& profile = *find_profile("mi300x");
    /// Memory whose faults become interrupts, as those of the real one do.
    class FaultingMemory : public TestMemory {
    public:
        std::span<std::byte> window(Hub hub, unsigned vmid, uint64_t va, uint64_t length,
                                    bool write) override {
            const auto found = TestMemory::window(hub, vmid, va, length, write);
            if (found.empty() && on_fault) {
                on_fault();
            }
            return found;
        }
        std::function<void()> on_fault;
    };

    RegisterFile registers{2u << 20};
    FaultingMemory memory;
    int interrupts = 0;
    Mutator mutator;
    Ih ih{{profile, registers, memory, [this] { ++interrupts; }, [] { return 0x1234'5678'9abcull; },
           mutator}};
};

TEST_F(IhTest, AFaultOfTheRingItselfIsNotToldInTheRing) {
    enable_ring(8);
    memory.on_fault = [this] { ih.raise({.client_id = 0x12}); };
    set(oss::regIH_RB_BASE_HI, 0xff);
    ih.raise({.client_id = 0x14});
    EXPECT_EQ(ih.lost(), 2u);
    EXPECT_EQ(interrupts, 0);
    set(oss::regIH_RB_BASE_HI, 0);
    ih.raise({.client_id = 0x14});
    EXPECT_EQ(ih.delivered(), 1u);
    EXPECT_EQ(interrupts, 1);
}

TEST_F(IhTest, EntrySaysWhoseVmidItIs) {
    enable_ring(8);
    ih.raise({.client_id = 0x12, .vmid = 3, .vmid_src = 1});
    EXPECT_EQ(memory.get<uint32_t>(ring), 0x83000012u);
}

TEST_F(IhTest, EntryHasTheLayoutOfTheDriver) {
    enable_ring(8);
    ih.raise({.client_id = 0x14,
              .source_id = 181,
              .ring_id = 5,
              .vmid = 8,
              .pasid = 0x8001,
              .node_id = 1,
              .data = {1, 2, 3, 4}});
    EXPECT_EQ(memory.get<uint32_t>(ring), 0x0805b514u);
    EXPECT_EQ(memory.get<uint32_t>(ring + 4), 0x56789abcu);
    EXPECT_EQ(memory.get<uint32_t>(ring + 8), 0x1234u);
    EXPECT_EQ(memory.get<uint32_t>(ring + 12), 0x00018001u);
    EXPECT_EQ(memory.get<uint32_t>(ring + 28), 4u);
    EXPECT_EQ(memory.get<uint32_t>(writeback), 32u);
    EXPECT_EQ(get(oss::regIH_RB_WPTR), 32u);
    EXPECT_EQ(interrupts, 1);
    EXPECT_EQ(memory.bus_accesses, 0u);
}

TEST_F(IhTest, AFalseWritePointerIsToldOnce) {
    enable_ring(8);
    ih.falsify_wptr(0x1f);
    ih.raise({.client_id = 0x14});
    EXPECT_EQ(memory.get<uint32_t>(writeback), 0x1fu);
    EXPECT_EQ(get(oss::regIH_RB_WPTR), 0x1fu);
    EXPECT_EQ(interrupts, 1);
    ih.raise({.client_id = 0x14});
    EXPECT_EQ(memory.get<uint32_t>(writeback), 64u) << "the entry is where it belongs";
    EXPECT_EQ(get(oss::regIH_RB_WPTR), 64u);
    ih.falsify_wptr(0x1f);
    ih.reset(ResetKind::mode1);
    enable_ring(8);
    ih.raise({.client_id = 0x14});
    EXPECT_EQ(memory.get<uint32_t>(writeback), 32u);
}

TEST_F(IhTest, BusAddressesBypassTranslation) {
    enable_ring(8, interrupt | bus_space);
    ih.raise({.client_id = 1});
    EXPECT_EQ(memory.bus_accesses, 2u);  // entry and write pointer
    EXPECT_EQ(memory.get<uint32_t>(writeback), 32u);
}

TEST_F(IhTest, WrapsAround) {
    enable_ring(6);  // 256 bytes: 8 entries
    for (uint32_t count = 0; count < 9; ++count) {
        ih.raise({.data = {count, 0, 0, 0}});
        set(oss::regIH_RB_RPTR, get(oss::regIH_RB_WPTR));
    }
    EXPECT_EQ(get(oss::regIH_RB_WPTR), 32u);
    EXPECT_EQ(memory.get<uint32_t>(ring + 16), 8u);
    EXPECT_EQ(memory.get<uint32_t>(ring + 7 * 32 + 16), 7u);
    EXPECT_EQ(memory.get<uint32_t>(ring + 256), 0u);  // nothing beyond the ring
}

TEST_F(IhTest, OverflowIsSaidAndCleared) {
    enable_ring(6);
    for (int count = 0; count < 8; ++count) {
        ih.raise({});
    }
    EXPECT_EQ(memory.get<uint32_t>(writeback), 1u);  // wrapped to 0, RB_OVERFLOW
    const uint32_t control = get(oss::regIH_RB_CNTL);
    set(oss::regIH_RB_CNTL, control | 1u << 31);
    set(oss::regIH_RB_CNTL, control);
    set(oss::regIH_RB_RPTR, 0);
    ih.raise({});
    EXPECT_EQ(memory.get<uint32_t>(writeback), 32u);
}

TEST_F(IhTest, RptrDoorbellRaisesAgainWhatCameMeanwhile) {
    enable_ring(8);
    ih.raise({});
    ih.raise({});
    interrupts = 0;
    EXPECT_FALSE(ih.ring_doorbell(doorbell + 1, 64));
    EXPECT_TRUE(ih.ring_doorbell(doorbell, 32));
    EXPECT_EQ(interrupts, 1);
    EXPECT_TRUE(ih.ring_doorbell(doorbell, 64));
    EXPECT_EQ(interrupts, 1);
    EXPECT_EQ(get(oss::regIH_RB_RPTR), 64u);
}

TEST_F(IhTest, WithoutAUsableRingAnEntryIsLost) {
    ih.raise({});    // disabled
    enable_ring(3);  // eight dwords: no room for two entries
    ih.raise({});
    enable_ring(8);
    set(oss::regIH_RB_BASE, 0xffffffff);
    ih.raise({});  // not in memory
    EXPECT_EQ(ih.lost(), 3u);
    EXPECT_EQ(ih.delivered(), 0u);
    EXPECT_EQ(interrupts, 0);
}

TEST_F(IhTest, NoInterruptUnlessEnabled) {
    enable_ring(8, 0);
    ih.raise({});
    EXPECT_EQ(ih.delivered(), 1u);
    EXPECT_EQ(interrupts, 0);
    EXPECT_TRUE(ih.ring_doorbell(doorbell, 0));
    EXPECT_EQ(interrupts, 0);
}

TEST_F(IhTest, AnyRegisterStateKeepsToTheRing) {
    uint32_t state = 12345;
    const auto random = [&] { return state = state * 1664525 + 1013904223; };
    for (int round = 0; round < 2000; ++round) {
        set(oss::regIH_RB_CNTL, random());
        set(oss::regIH_RB_BASE, random() >> (random() % 32));
        set(oss::regIH_RB_BASE_HI, random() % 4 == 0 ? random() : 0);
        set(oss::regIH_RB_WPTR, random());
        set(oss::regIH_RB_WPTR_ADDR_LO, random() >> (random() % 32));
        set(oss::regIH_RB_WPTR_ADDR_HI, random() % 4 == 0 ? random() : 0);
        ih.raise({});
    }
    EXPECT_EQ(ih.lost() + ih.delivered(), 2000u);
}

TEST_F(IhTest, AHostileDeviceLiesInEntriesAndPointer) {
    enable_ring(8);
    ih.raise({.client_id = 0x14, .source_id = 181, .data = {7, 0, 0, 0}});
    const auto honest = memory.get<std::array<uint32_t, 8>>(ring);
    mutator.start(1, std::array{Surface::interrupts}, 1);
    ih.raise({.client_id = 0x14, .source_id = 181, .data = {7, 0, 0, 0}});
    const auto entry = memory.get<std::array<uint32_t, 8>>(ring + 32);
    for (size_t dword = 0; dword < honest.size(); ++dword) {
        EXPECT_NE(entry[dword], honest[dword]) << dword;
    }
    EXPECT_NE(memory.get<uint32_t>(writeback), 64u);
    EXPECT_EQ(get(oss::regIH_RB_WPTR), 64u) << "it does not believe its own lies";
    EXPECT_EQ(mutator.mutations(), 9u);
    EXPECT_EQ(interrupts, 2);
}

TEST_F(IhTest, AWrongPointerIsNotAnInterruptForEver) {
    enable_ring(8);
    mutator.start(2, std::array{Surface::interrupts}, 1);
    ih.raise({});
    ASSERT_NE(memory.get<uint32_t>(writeback), 32u);
    mutator.start(1, std::array{Surface::interrupts}, 1'000'000);
    EXPECT_TRUE(ih.ring_doorbell(doorbell, memory.get<uint32_t>(writeback)));
    EXPECT_EQ(interrupts, 2);
    ASSERT_EQ(memory.get<uint32_t>(writeback), 32u);
    EXPECT_TRUE(ih.ring_doorbell(doorbell, 32));
    EXPECT_EQ(interrupts, 2);
}

TEST_F(IhTest, LiesStayWithinTheRingAndThePointer) {
    enable_ring(4);  // two entries
    mutator.start(1, std::array{Surface::interrupts}, 1);
    const auto untouched = memory.get<std::array<std::byte, 4096>>(ring + 64);
    for (int i = 0; i < 1000; ++i) {
        ih.raise({});
    }
    EXPECT_EQ(memory.get<uint32_t>(writeback + 4), 0u);
    EXPECT_EQ((memory.get<std::array<std::byte, 4096>>(ring + 64)), untouched);
    EXPECT_EQ(ih.delivered(), 1000u);
}

/// kgd_gfx_v9_4_3_set_pasid_vmid_mapping().
TEST_F(IhTest, EachNodeHasItsTableOfVmids) {
    set(oss::regIH_VMID_LUT_INDEX, 5);
    set(oss::regIH_VMID_0_LUT, 0x8005);
    set(oss::regIH_VMID_0_LUT_MM, 0x8105);
    set(oss::regIH_VMID_LUT_INDEX, 0);
    EXPECT_EQ(get(oss::regIH_VMID_0_LUT), 0u);
    set(oss::regIH_VMID_0_LUT, 0x8000);
    set(oss::regIH_VMID_LUT_INDEX, 5);
    EXPECT_EQ(get(oss::regIH_VMID_0_LUT), 0x8005u);
    EXPECT_EQ(get(oss::regIH_VMID_0_LUT_MM), 0x8105u);
    ih.reset(ResetKind::flr);
    EXPECT_EQ(get(oss::regIH_VMID_LUT_INDEX), 0u);
    EXPECT_EQ(get(oss::regIH_VMID_0_LUT), 0u);
}

TEST_F(IhTest, Osssys5HasOneTableOfVmids) {
    const Profile& navi21 = *find_profile("navi21");
    const IpInstance& osssys = navi21.ip(HwId::OSSSYS);
    RegisterFile file{2u << 20};
    Ih one{{navi21, file, memory, [] {}, [] { return uint64_t{1}; }, mutator}};
    one.reset(ResetKind::cold);
    file.write(at(osssys, oss::regIH_VMID_0_LUT), 0x8005);
    file.write(at(osssys, oss::regIH_VMID_LUT_INDEX), 5);  // IH_VF_RB1_STATUS3
    EXPECT_EQ(file.read(at(osssys, oss::regIH_VMID_0_LUT)), 0x8005u);
    PasidLuts luts(osssys, file);
    luts.write(0, oss::regIH_VMID_0_LUT, 8, 0x8008);
    EXPECT_EQ(luts.read(3, oss::regIH_VMID_0_LUT, 8), 0x8008u);
    EXPECT_EQ(file.read(at(osssys, oss::regIH_VMID_LUT_INDEX)), 5u);
}

}  // namespace
}  // namespace gpuemu
