// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of the page-table walk, with tables written as amdgpu_vm.c and amdgpu_gart.c do.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/mem/gpu_vm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace gpuemu {
namespace {

constexpr uint64_t mib = 1ull << 20;
constexpr uint64_t fb_base = 0x80'0000'0000;

constexpr uint64_t valid = 1, system_page = 2, writeable = 1 << 6, readable = 1 << 5;
constexpr uint64_t rw = valid | readable | writeable;
constexpr uint64_t pde_as_pte = 1ull << 54;
constexpr uint64_t translate_further = 1ull << 56;
constexpr uint64_t fragment9 = 9ull << 59;

constexpr VmHubRegisters gfx_hub{0x10, 0x20, 0x40, 0x60};
constexpr VmHubRegisters second_gfx_hub{0x210, 0x220, 0x240, 0x260};
constexpr VmHubRegisters mm_hub{0x110, 0x120, 0x140, 0x160};

class FakeHost : public PciHost {
public:
    std::span<std::byte> dma(uint64_t iova, uint64_t length, DmaAccess access) override {
        if (iova < base || iova - base >= memory.size() ||
            (access == DmaAccess::write && read_only)) {
            return {};
        }
        return std::span(memory).subspan(iova - base,
                                         std::min(length, memory.size() - (iova - base)));
    }
    bool raise_msi(unsigned) override { return false; }

    uint64_t base = 0x1'0000'0000;
    std::vector<std::byte> memory = std::vector<std::byte>(64 * 1024);
    bool read_only = false;
};

class GpuVmTest : public testing::Test {
protected:
    GpuVmTest() {
        vm.set_host(&host);
        for (const auto& hub : {gfx_hub, mm_hub}) {
            registers.raw(hub.MC_VM_FB_LOCATION_BASE) = fb_base >> 24;
        }
    }

    void set_context(const VmHubRegisters& hub, unsigned vmid, unsigned depth, unsigned block_size,
                     uint64_t base, uint64_t start) {
        registers.raw(hub.VM_CONTEXT0_CNTL + vmid) = 1 | depth << 1 | block_size << 3;
        set64(hub.VM_CONTEXT0_PAGE_TABLE_BASE_ADDR_LO32 + 2 * vmid, base);
        set64(hub.VM_CONTEXT0_PAGE_TABLE_START_ADDR_LO32 + 2 * vmid, start >> 12);
    }

    void set64(uint32_t dword, uint64_t value) {
        registers.raw(dword) = static_cast<uint32_t>(value);
        registers.raw(dword + 1) = static_cast<uint32_t>(value >> 32);
    }

    void set_entry(uint64_t table, uint64_t index, uint64_t entry) {
        std::memcpy(vram.window(table + index * 8, 8).data(), &entry, 8);
    }

    uint64_t offset_in_vram(std::span<std::byte> window) const {
        return static_cast<uint64_t>(window.data() - vram.window(0, 1).data());
    }

    RegisterFile registers{0x1000};
    Vram vram{64 * mib};
    FakeHost host;
    FrameBuffer frame_buffer{vram};
    GpuVm vm{registers, frame_buffer, {gfx_hub, second_gfx_hub}, {mm_hub}};
};

TEST_F(GpuVmTest, FrameBufferApertureOfVmidZeroIsVram) {
    const auto window = vm.window(Hub::mm, 0, fb_base + 5 * mib, 1ull << 40, true);
    EXPECT_EQ(offset_in_vram(window), 5 * mib);
    EXPECT_EQ(window.size(), 59 * mib);
    EXPECT_TRUE(vm.window(Hub::mm, 0, fb_base + 64 * mib, 4, false).empty());
    EXPECT_TRUE(vm.window(Hub::mm, 1, fb_base, 4, false).empty());
}

TEST_F(GpuVmTest, DepthZeroIsAFlatTable) {
    set_context(mm_hub, 0, 0, 0, (1 * mib) | valid, 0x10000);
    set_entry(1 * mib, 3, (host.base + 0x2000) | rw | system_page);
    set_entry(1 * mib, 5000, 0x7000 | rw);  // the flat table is longer than a block
    const auto bus = vm.window(Hub::mm, 0, 0x10000 + 0x3010, 0x10000, true);
    ASSERT_EQ(bus.size(), 0x1000u - 0x10);
    EXPECT_EQ(bus.data(), host.memory.data() + 0x2010);
    EXPECT_EQ(offset_in_vram(vm.window(Hub::mm, 0, 0x10000 + 5000 * 0x1000, 4, false)), 0x7000u);
    EXPECT_TRUE(vm.window(Hub::mm, 0, 0x10000 + 0x4000, 4, false).empty());
    EXPECT_EQ(vm.faults().back().reason, VmFault::Reason::not_valid);
    EXPECT_TRUE(vm.window(Hub::mm, 0, 0xf000, 4, false).empty());
    EXPECT_EQ(vm.faults().back().reason, VmFault::Reason::below_start);
}

/// The tables of a process on this ASIC: depth 2, block size 9, fragment size 9 in PDE0.
class ProcessTables : public GpuVmTest {
protected:
    static constexpr uint64_t root = 2 * mib, pdb0 = 3 * mib, ptb = 4 * mib, leaf = 5 * mib;
    // Page number bits: 35..27 root, ... here index 1 of the root, 2 of PDB0, 7 of PTB, 9 of the
    // leaf.
    static constexpr uint64_t va = (1ull << 39) | (2ull << 30) | (7ull << 21) | (9ull << 12);

    ProcessTables() {
        set_context(gfx_hub, 8, 2, 9, root | valid, 0);
        set_entry(root, 1, pdb0 | valid);
        set_entry(pdb0, 2, ptb | valid | fragment9);
    }
};

TEST_F(ProcessTables, BlockFragmentMapsTwoMebibytes) {
    set_entry(ptb, 7, (16 * mib) | rw);
    const auto window = vm.window(Hub::gfx, 8, va + 0x123, 1ull << 30, true);
    EXPECT_EQ(offset_in_vram(window), 16 * mib + 0x9123);
    EXPECT_EQ(window.size(), 2 * mib - 0x9123);
}

TEST_F(ProcessTables, TranslateFurtherReachesSinglePages) {
    set_entry(ptb, 7, leaf | valid | translate_further);
    set_entry(leaf, 9, (20 * mib) | rw);
    const auto window = vm.window(Hub::gfx, 8, va + 0x123, 1ull << 30, true);
    EXPECT_EQ(offset_in_vram(window), 20 * mib + 0x123);
    EXPECT_EQ(window.size(), 0x1000u - 0x123);
    EXPECT_TRUE(vm.window(Hub::gfx, 8, va + 0x1000, 4, false).empty());
}

TEST_F(ProcessTables, DirectoryEntryAsPageMapsOneGibibyte) {
    set_entry(pdb0, 2, 0 | rw | pde_as_pte);
    const auto window = vm.window(Hub::gfx, 8, va, 4, false);
    EXPECT_EQ(offset_in_vram(window), va & ((1ull << 30) - 1));
}

TEST_F(ProcessTables, WriteNeedsPermission) {
    set_entry(ptb, 7, (16 * mib) | valid | readable);
    EXPECT_FALSE(vm.window(Hub::gfx, 8, va, 4, false).empty());
    EXPECT_TRUE(vm.window(Hub::gfx, 8, va, 4, true).empty());
    EXPECT_EQ(vm.faults().back().reason, VmFault::Reason::not_writeable);
    EXPECT_TRUE(vm.faults().back().write);
    EXPECT_EQ(vm.faults().back().vmid, 8u);
}

TEST_F(ProcessTables, TablesOnTheBusAreWalkedAndMissingOnesFault) {
    host.base = 0x1000;
    set_entry(root, 1, 0x1000 | valid | system_page);
    const uint64_t entry = ptb | valid | fragment9;
    std::memcpy(host.memory.data() + 2 * 8, &entry, 8);
    set_entry(ptb, 7, (16 * mib) | rw);
    EXPECT_FALSE(vm.window(Hub::gfx, 8, va, 4, false).empty());
    vm.set_host(nullptr);
    vm.tlb(Hub::gfx).invalidate(1 << 8);
    EXPECT_TRUE(vm.window(Hub::gfx, 8, va, 4, false).empty());
    EXPECT_EQ(vm.faults().back().reason, VmFault::Reason::not_valid);
}

TEST_F(ProcessTables, AFaultTellsWhereTheWalkEnded) {
    const auto where = [this] {
        EXPECT_TRUE(vm.window(Hub::gfx, 8, va, 4, true).empty());
        const auto entry = vm.faults().back().entry.value_or(VmFault::Entry{});
        return std::tuple(entry.level, entry.address, entry.value);
    };
    set_entry(ptb, 7, 0x123'0000);
    EXPECT_EQ(where(), std::tuple(0u, ptb + 7 * 8, 0x123'0000u));
    set_entry(ptb, 7, (16 * mib) | valid | readable);
    EXPECT_EQ(where(), std::tuple(0u, ptb + 7 * 8, (16 * mib) | valid | readable));
    vm.tlb(Hub::gfx).invalidate(1 << 8);
    set_entry(pdb0, 2, pde_as_pte);  // as amdgpu_vm_pt_clear() leaves it
    EXPECT_EQ(where(), std::tuple(1u, pdb0 + 2 * 8, pde_as_pte));
    set_entry(root, 1, 0);
    EXPECT_EQ(where(), std::tuple(2u, root + 8, 0u));
    registers.raw(gfx_hub.VM_CONTEXT0_CNTL + 8) = 0;
    EXPECT_TRUE(vm.window(Hub::gfx, 8, va, 4, true).empty());
    EXPECT_FALSE(vm.faults().back().entry) << "of a context that is off there is none";
}

TEST_F(ProcessTables, ATranslationIsUsedUntilItIsInvalidated) {
    const auto found = [this] { return vm.window(Hub::gfx, 8, va + 0x123, 4, true); };
    set_entry(ptb, 7, (16 * mib) | rw);
    EXPECT_EQ(offset_in_vram(found()), 16 * mib + 0x9123);
    EXPECT_EQ(vm.walks(), 1u);
    set_entry(ptb, 7, (18 * mib) | rw);
    EXPECT_EQ(offset_in_vram(found()), 16 * mib + 0x9123);
    set_entry(ptb, 7, 0);
    EXPECT_EQ(offset_in_vram(found()), 16 * mib + 0x9123);
    EXPECT_EQ(vm.walks(), 1u);
    vm.tlb(Hub::gfx).invalidate(1 << 9);
    vm.tlb(Hub::mm).invalidate(1 << 8);
    EXPECT_FALSE(found().empty());
    vm.tlb(Hub::gfx).invalidate(1 << 8);
    EXPECT_TRUE(found().empty());
    EXPECT_EQ(vm.faults().back().reason, VmFault::Reason::not_valid);
}

TEST_F(ProcessTables, AnEntryThatIsNotValidIsNotKept) {
    EXPECT_TRUE(vm.window(Hub::gfx, 8, va, 4, false).empty());
    set_entry(ptb, 7, (16 * mib) | rw);
    EXPECT_FALSE(vm.window(Hub::gfx, 8, va, 4, false).empty());
}

TEST_F(ProcessTables, WhatIsKeptHasItsPermission) {
    set_entry(ptb, 7, (16 * mib) | valid | readable);
    EXPECT_FALSE(vm.window(Hub::gfx, 8, va, 4, false).empty());
    EXPECT_TRUE(vm.window(Hub::gfx, 8, va, 4, true).empty());
    EXPECT_EQ(vm.faults().back().reason, VmFault::Reason::not_writeable);
    EXPECT_EQ(vm.walks(), 1u);
}

TEST_F(ProcessTables, ADisabledContextFaultsWhateverIsKept) {
    set_entry(ptb, 7, (16 * mib) | rw);
    EXPECT_FALSE(vm.window(Hub::gfx, 8, va, 4, false).empty());
    registers.raw(gfx_hub.VM_CONTEXT0_CNTL + 8) &= ~1u;
    EXPECT_TRUE(vm.window(Hub::gfx, 8, va, 4, false).empty());
    EXPECT_EQ(vm.faults().back().reason, VmFault::Reason::no_context);
}

TEST_F(ProcessTables, AResetKeepsNothing) {
    set_entry(ptb, 7, (16 * mib) | rw);
    EXPECT_FALSE(vm.window(Hub::gfx, 8, va, 4, false).empty());
    set_entry(ptb, 7, 0);
    vm.reset();
    EXPECT_TRUE(vm.window(Hub::gfx, 8, va, 4, false).empty());
}

TEST_F(ProcessTables, StaleUsesAreCountedWhenChecked) {
    vm.set_tlb_use(Tlb::Use::checked);
    set_entry(ptb, 7, (16 * mib) | rw);
    for (int use = 0; use < 3; ++use) {
        EXPECT_FALSE(vm.window(Hub::gfx, 8, va, 4, false).empty());
    }
    EXPECT_EQ(vm.stale_uses(), 0u);
    set_entry(ptb, 7, (16 * mib) | valid | readable);
    EXPECT_EQ(offset_in_vram(vm.window(Hub::gfx, 8, va, 4, true)), 16 * mib + 0x9000);
    EXPECT_EQ(vm.stale_uses(), 1u);
    vm.tlb(Hub::gfx).invalidate(1 << 8);
    EXPECT_FALSE(vm.window(Hub::gfx, 8, va, 4, false).empty());
    EXPECT_EQ(vm.stale_uses(), 1u);
}

TEST_F(ProcessTables, WithoutATlbEachAccessWalks) {
    vm.set_tlb_use(Tlb::Use::off);
    set_entry(ptb, 7, (16 * mib) | rw);
    EXPECT_FALSE(vm.window(Hub::gfx, 8, va, 4, false).empty());
    set_entry(ptb, 7, 0);
    EXPECT_TRUE(vm.window(Hub::gfx, 8, va, 4, false).empty());
    EXPECT_EQ(vm.walks(), 2u);
}

TEST_F(ProcessTables, HubsAndVmidsAreApart) {
    set_entry(ptb, 7, (16 * mib) | rw);
    EXPECT_FALSE(vm.window(Hub::gfx, 8, va, 4, false).empty());
    EXPECT_TRUE(vm.window(Hub::mm, 8, va, 4, false).empty());
    EXPECT_EQ(vm.faults().back().reason, VmFault::Reason::no_context);
    EXPECT_TRUE(vm.window({Hub::Kind::gfx, 1}, 8, va, 4, false).empty()) << "another XCC";
    EXPECT_EQ(vm.faults().back().hub, (Hub{Hub::Kind::gfx, 1}));
    EXPECT_TRUE(vm.window(Hub::gfx, 9, va, 4, false).empty());
    EXPECT_TRUE(vm.window(Hub::gfx, 16, va, 4, false).empty());
    EXPECT_TRUE(vm.window(Hub::gfx, ~0u, va, 4, false).empty());
}

TEST_F(GpuVmTest, RandomTablesNeverLeaveMemory) {
    // What is in the tables is the guest's: whatever it is, a window lies in VRAM or host memory.
    uint64_t state = 88172645463325252ull;
    const auto random = [&] {
        return state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    };
    for (int round = 0; round < 20000; ++round) {
        const unsigned vmid = random() % GpuVm::vmids;
        set_context(gfx_hub, vmid, random() % 4, random() % 16, random(), 0);
        for (int entry = 0; entry < 8; ++entry) {
            set_entry(random() % (63 * mib) & ~7ull, 0, random());
        }
        const auto window = vm.window(Hub::gfx, vmid, random(), 64, random() % 2 != 0);
        if (!window.empty()) {
            const bool in_vram =
                window.data() >= vram.window(0, 1).data() &&
                window.data() + window.size() <= vram.window(0, 1).data() + vram.size();
            const bool in_host =
                window.data() >= host.memory.data() &&
                window.data() + window.size() <= host.memory.data() + host.memory.size();
            ASSERT_TRUE(in_vram || in_host);
        }
    }
}

TEST_F(GpuVmTest, FaultsAreCountedReportedAndBounded) {
    int reported = 0;
    vm.on_fault([&](const VmFault&) { ++reported; });
    for (uint64_t count = 0; count < 100; ++count) {
        EXPECT_TRUE(vm.window(Hub::gfx, 3, count << 12, 4, false).empty());
    }
    EXPECT_EQ(reported, 100);
    EXPECT_EQ(vm.fault_count(), 100u);
    ASSERT_EQ(vm.faults().size(), GpuVm::remembered_faults);
    EXPECT_EQ(vm.faults().back().va, 99u << 12);
    vm.reset();
    EXPECT_EQ(vm.fault_count(), 0u);
    EXPECT_TRUE(vm.faults().empty());
}

TEST_F(GpuVmTest, BusAccessAsksTheHost) {
    EXPECT_EQ(vm.bus_window(host.base + 8, 4, true).size(), 4u);
    host.read_only = true;
    EXPECT_TRUE(vm.bus_window(host.base + 8, 4, true).empty());
    EXPECT_FALSE(vm.bus_window(host.base + 8, 4, false).empty());
    vm.set_host(nullptr);
    EXPECT_TRUE(vm.bus_window(host.base + 8, 4, false).empty());
}

/// Node 1 of a hive of two, whose peer's memory is an array.
class HiveVmTest : public GpuVmTest {
protected:
    class Peer : public PeerMemory {
    public:
        std::span<std::byte> window(unsigned node, uint64_t offset, uint64_t length,
                                    bool) override {
            if (node != 0 || offset >= memory.size()) {
                return {};
            }
            return std::span(memory).subspan(offset, std::min(length, memory.size() - offset));
        }

        std::vector<std::byte> memory = std::vector<std::byte>(64 * 1024);
    };

    static constexpr uint64_t segment = 256 * mib;

    Peer peer;
    FrameBuffer hive{vram, {.nodes = 2, .node = 1, .segment_bytes = segment}, &peer};
    GpuVm hive_vm{registers, hive, {gfx_hub}, {mm_hub}};
};

TEST_F(HiveVmTest, TheApertureIsTheMemoryOfAll) {
    EXPECT_EQ(hive_vm.window(Hub::mm, 0, fb_base + 0x1000, 8, true).data(),
              peer.memory.data() + 0x1000);
    EXPECT_EQ(offset_in_vram(hive_vm.window(Hub::mm, 0, fb_base + segment + 0x1000, 8, true)),
              0x1000u);
    EXPECT_TRUE(hive_vm.window(Hub::mm, 0, fb_base + 64 * 1024, 8, true).empty());
    EXPECT_EQ(hive_vm.faults().back().reason, VmFault::Reason::no_memory);
    EXPECT_TRUE(hive_vm.window(Hub::mm, 0, fb_base + 2 * segment, 8, true).empty());
    EXPECT_EQ(hive_vm.faults().back().reason, VmFault::Reason::no_context);
}

/// amdgpu_vm_bo_update() adds vram_base_offset of the GPU whose memory it is.
TEST_F(HiveVmTest, EntriesLeadToTheOwnMemoryAndToThePeers) {
    set_context(gfx_hub, 3, 0, 0, (segment + 1 * mib) | valid, 0);
    set_entry(1 * mib, 0, (segment + 0x5000) | rw);
    set_entry(1 * mib, 1, 0x3000 | rw);
    set_entry(1 * mib, 2, 0x4000 | valid | readable);
    EXPECT_EQ(offset_in_vram(hive_vm.window(Hub::gfx, 3, 0x10, 8, true)), 0x5010u);
    EXPECT_TRUE(hive_vm.write32(Hub::gfx, 3, 0x1008, 0x600d600d));
    uint32_t found = 0;
    std::memcpy(&found, peer.memory.data() + 0x3008, sizeof found);
    EXPECT_EQ(found, 0x600d600du);
    EXPECT_EQ(hive_vm.read32(Hub::gfx, 3, 0x1008), 0x600d600du);
    EXPECT_EQ(hive_vm.fetch_add32(Hub::gfx, 3, 0x1008, 2), 0x600d600du);
    EXPECT_FALSE(hive_vm.write32(Hub::gfx, 3, 0x2000, 1)) << "read-only is read-only there too";
    EXPECT_TRUE(host.memory == std::vector<std::byte>(host.memory.size()))
        << "nothing took the bus";
}

}  // namespace
}  // namespace gpuemu
