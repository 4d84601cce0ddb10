// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of Gpu: the accesses of a host to all its regions, resets, and the first steps of
// the driver's probe.
// Thread: the test's.
// Does not model: running engines (that is their own test's).
#include "gpu-emu/board/gpu.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "gpu-emu/ip/atom_image.h"
#include "gpu-emu/ip/discovery.h"
#include "gpu-emu/ip/vm_hub.h"
#include "gpu-emu/testing/driver_side.h"
#include "lib/run_until.h"

namespace gpuemu {
namespace {

constexpr uint64_t mib = 1u << 20;
constexpr uint32_t mmMM_INDEX = 0, mmMM_DATA = 1;
constexpr uint32_t mmRCC_CONFIG_MEMSIZE = 0xde3;
constexpr uint32_t RCC_DOORBELL_APER_EN = 0xde0;
constexpr uint32_t MP0_C2PMSG_35 = 0x16063, MP0_C2PMSG_81 = 0x16091;
constexpr uint32_t MP1_C2PMSG_66 = 0x16282, MP1_C2PMSG_82 = 0x16292, MP1_C2PMSG_90 = 0x1629a;
constexpr uint32_t IH_RB_CNTL = 0x1120, IH_RB_BASE = 0x1121, IH_RB_WPTR = 0x1124;
constexpr uint32_t IH_RB_WPTR_ADDR_LO = 0x1126;
constexpr uint32_t IH_DOORBELL_RPTR = 0x1127;
constexpr uint32_t BIF_DOORBELL_INT_CNTL = 0xe1e;
constexpr uint64_t DOORBELL0_CTRL_ENTRY_0 = (0x05000000 + 0xcd00) * 4ull;

class NoKicker : public EngineKicker {
public:
    void kick(Engine&) override {}
};

class FakeHost : public PciHost {
public:
    std::span<std::byte> dma(uint64_t iova, uint64_t length, DmaAccess access) override {
        reached.push_back({iova, length, access});
        if (iova >= memory.size()) {
            return {};
        }
        return std::span(memory).subspan(iova, std::min(length, memory.size() - iova));
    }
    bool raise_msi(unsigned vector) override {
        EXPECT_EQ(vector, 0u);
        ++interrupts;
        return true;
    }

    std::vector<std::byte> memory = std::vector<std::byte>(64 * 1024);
    int interrupts = 0;
    std::vector<std::tuple<uint64_t, uint64_t, DmaAccess>> reached;
};

Profile small(const char* name) {
    Profile profile = *find_profile(name);
    profile.vram_bytes = 64 * mib;
    return profile;
}

class GpuTest : public testing::Test, protected test::DriverSide {
protected:
    explicit GpuTest(const char* name = "mi300x") : profile(small(name)) {
        gpu.attach(host);
        enable();
    }

    PciFunction& function() override { return gpu; }

    void mode1_reset() {
        set(MP1_C2PMSG_82, 1);
        set(MP1_C2PMSG_66, 3);  // GfxDriverReset
    }

    void start_sos() {
        set(MP0_C2PMSG_35, 0x20000);
        reg(MP0_C2PMSG_81);
        ASSERT_EQ(reg(MP0_C2PMSG_81), 1u);
    }

    const Profile profile;
    NoKicker kicker;
    FakeHost host;
    Gpu gpu{profile, {}, kicker};
};

TEST_F(GpuTest, RegionsAndIdentity) {
    EXPECT_EQ(gpu.region_info(Region::bar0).size, 64 * mib);
    EXPECT_GE(gpu.region_info(Region::bar0).mmap_fd, 0);
    EXPECT_EQ(gpu.region_info(Region::bar1).size, 0u);
    EXPECT_EQ(gpu.region_info(Region::bar2).size, 2 * mib);
    EXPECT_EQ(gpu.region_info(Region::bar5).size, 2 * mib);
    EXPECT_EQ(gpu.region_info(Region::config).size, 4096u);
    EXPECT_EQ(gpu.region_info(Region::rom).size, 8192u);
    EXPECT_FALSE(gpu.region_info(Region::rom).writable);
    put<uint32_t>(Region::config, 0x30, ~0u);
    EXPECT_EQ(get(Region::config, 0x30), 0xffffe001u);
    EXPECT_EQ(get<uint16_t>(Region::rom, 0), 0xaa55u);
    put<uint16_t>(Region::rom, 0, 0);
    EXPECT_EQ(get<uint16_t>(Region::rom, 0), 0xaa55u);
    EXPECT_EQ(get(Region::rom, 8190), ~0u) << "beyond its end";
    EXPECT_EQ(gpu.msi_vectors(), 1u);
    EXPECT_EQ(get(Region::config, 0), 0x74a11002u);
    EXPECT_EQ(get<uint32_t>(Region::config, 8) >> 8, 0x120000u);
    NoKicker other;
    const Gpu trapped(profile, {.map_vram = false, .eeprom_path = {}}, other);
    EXPECT_EQ(trapped.region_info(Region::bar0).mmap_fd, -1);
}

TEST_F(GpuTest, ABoardWithASerialNumberTellsPci) {
    Profile numbered = profile;
    numbered.serial = 0xe01;
    NoKicker other;
    Gpu board(numbered, {}, other);
    std::array<uint32_t, 3> capability{};
    board.read(Region::config, 0x110, std::as_writable_bytes(std::span(capability)));
    EXPECT_EQ(capability, (std::array<uint32_t, 3>{0x00010003, 0xe01, 0}));
    EXPECT_EQ(get(Region::config, 0x110), 0u) << "one without has no such capability";
}

TEST_F(GpuTest, SmuResetsOneSdmaInstance) {
    constexpr uint32_t sdma0_f32_cntl = 0x1262, sdma1_f32_cntl = 0x1862;
    set(sdma0_f32_cntl, 1);
    set(sdma1_f32_cntl, 1);
    set(MP1_C2PMSG_82, 1u << 1);
    set(MP1_C2PMSG_66, 0x4d);
    EXPECT_EQ(reg(MP1_C2PMSG_90), 1u);
    EXPECT_EQ(reg(sdma0_f32_cntl), 1u);
    EXPECT_EQ(reg(sdma1_f32_cntl), 0u);
}

TEST_F(GpuTest, SmuResetsVcnWithItsDecoders) {
    constexpr uint32_t vcpu_cntl = 0x7e00 + 0x196, jrbc3_scratch0 = 0x7894;
    set(vcpu_cntl, 1u << 9);
    set(jrbc3_scratch0, 1);
    set(MP1_C2PMSG_82, 1);
    set(MP1_C2PMSG_66, 0x5b);
    EXPECT_EQ(reg(MP1_C2PMSG_90), 1u);
    EXPECT_EQ(reg(vcpu_cntl), 0u);
    EXPECT_EQ(reg(jrbc3_scratch0), 0u);
}

TEST_F(GpuTest, DriverFindsTheDiscoveryTable) {
    const uint64_t vram = uint64_t{reg(mmRCC_CONFIG_MEMSIZE)} << 20;
    ASSERT_EQ(vram, 64 * mib);
    EXPECT_NE(reg(0x16061) & 0x80000000, 0u);
    const uint64_t table = vram - 64 * 1024;
    set(0, 0x80000000 | static_cast<uint32_t>(table));
    set(6, static_cast<uint32_t>(table >> 31));
    EXPECT_EQ(reg(1), 0x28211407u);
    EXPECT_EQ(get(Region::bar0, table), 0x28211407u);
    EXPECT_TRUE(gpu.registers().unknown_reads().empty());
}

TEST_F(GpuTest, RegisterAccessesOfAllWidths) {
    constexpr uint64_t offset = 0x3000 * 4;
    put<uint64_t>(Region::bar5, offset, 0x8877'6655'4433'2211);
    EXPECT_EQ(get<uint64_t>(Region::bar5, offset), 0x8877'6655'4433'2211u);
    EXPECT_EQ(get<uint8_t>(Region::bar5, offset + 5), 0x66);
    EXPECT_EQ(get<uint16_t>(Region::bar5, offset + 2), 0x4433);
    put<uint8_t>(Region::bar5, offset + 1, 0xaa);
    EXPECT_EQ(get(Region::bar5, offset), 0x4433aa11u);
    put<uint16_t>(Region::bar5, offset + 3, 0xbbcc);  // crosses a dword
    EXPECT_EQ(get<uint64_t>(Region::bar5, offset), 0x8877'66bb'cc33'aa11u);
}

TEST_F(GpuTest, SaysWhichReadOnlyRegistersWereWritten) {
    EXPECT_EQ(gpu.describe().find("read-only"), std::string::npos);
    set(mmRCC_CONFIG_MEMSIZE, 1);
    set(mmRCC_CONFIG_MEMSIZE, 2);
    EXPECT_EQ(reg(mmRCC_CONFIG_MEMSIZE), 64u);
    EXPECT_NE(gpu.describe().find("read-only registers written: 0x378c "
                                  "regRCC_DEV0_EPF0_RCC_CONFIG_MEMSIZE (2)\n"),
              std::string::npos)
        << gpu.describe();
}

TEST_F(GpuTest, WhatIsNotThereReadsAsOnes) {
    EXPECT_EQ(get(Region::bar5, 2 * mib), ~0u);
    EXPECT_EQ(get(Region::bar5, 2 * mib - 2), ~0u);
    EXPECT_EQ(get(Region::bar0, ~0ull), ~0u);
    EXPECT_EQ(get(Region::bar3, 0), ~0u);
    EXPECT_EQ(get(Region::rom, 8192), ~0u);
    EXPECT_EQ(get(static_cast<Region>(77), 0), ~0u);
    EXPECT_EQ(get(Region::bar2, 0x100), 0u);
    put(Region::bar0, 64 * mib - 1, 1u);
    put(Region::bar3, 0, 1u);
    put(Region::rom, ~0ull, 1u);
    gpu.read(Region::bar0, 0, {});
    gpu.write(Region::bar0, 0, {});
}

TEST_F(GpuTest, VramIsSharedWithWhoeverMapsIt) {
    void* mapped = ::mmap(nullptr, 64 * mib, PROT_READ | PROT_WRITE, MAP_SHARED,
                          gpu.region_info(Region::bar0).mmap_fd, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    put(Region::bar0, 3 * mib, 0x12345678u);
    uint32_t seen = 0;
    std::memcpy(&seen, static_cast<std::byte*>(mapped) + 3 * mib, 4);
    EXPECT_EQ(seen, 0x12345678u);
    gpu.turn_vram_to_ones();
    std::memcpy(&seen, static_cast<std::byte*>(mapped) + 3 * mib, 4);
    EXPECT_EQ(seen, ~0u);
    gpu.detach();
    gpu.attach(host);  // a cold board
    enable();
    std::memcpy(&seen, static_cast<std::byte*>(mapped) + 3 * mib, 4);
    EXPECT_EQ(seen, 0u);
    EXPECT_EQ(get(Region::bar0, 64 * mib - 64 * 1024), 0x28211407u);
    ::munmap(mapped, 64 * mib);
}

TEST_F(GpuTest, VramTurnsToOnesBitByBitUntilThereIsAnotherBoard) {
    using namespace std::chrono_literals;
    constexpr uint64_t page = 4096, last = 3 * mib;
    const auto fill = [this] {
        for (uint64_t offset = 0; offset <= last; offset += page) {
            put<uint32_t>(Region::bar0, offset, 0x12345678);
        }
        gpu.turn_vram_to_ones(0ms);
        EXPECT_EQ(get(Region::bar0, 0), ~0u);
        EXPECT_EQ(get(Region::bar0, last), 0x12345678u) << "not its turn yet";
    };
    fill();
    while (gpu.fill_vram()) {
    }
    EXPECT_EQ(get(Region::bar0, last), ~0u);
    fill();
    gpu.detach();
    gpu.attach(host);
    enable();
    EXPECT_FALSE(gpu.fill_vram());
    EXPECT_EQ(get(Region::bar0, last), 0u);
}

TEST_F(GpuTest, PoisonedVramIsNotWhatItWasAfterAnyLoss) {
    constexpr uint64_t place = 3 * mib;
    uint32_t last = 0x12345678;
    const auto expect_poison = [&](const char* after) {
        enable();
        const uint32_t now = get(Region::bar0, place);
        EXPECT_EQ(now & 0xffff0000, Vram::poison_mark) << after;
        EXPECT_NE(std::exchange(last, now), now) << after;
        EXPECT_EQ(get(Region::bar0, 64 * mib - 64 * 1024), 0x28211407u) << "the discovery table";
    };
    gpu.poison_vram();
    put(Region::bar0, place, last);
    mode1_reset();
    expect_poison("mode 1");
    put<uint16_t>(Region::config, 0x64 + 8, 0x8000);
    expect_poison("FLR");
    gpu.turn_vram_to_ones();
    gpu.detach();
    gpu.attach(host);
    expect_poison("another board");
    gpu.reset();
    enable();
    EXPECT_EQ(get(Region::bar0, place), last) << "the link's reset leaves it alone";
}

TEST_F(GpuTest, Mode1ResetOfTheSmuLosesConfigSpace) {
    put(Region::config, 0x24, 0xfaa00000u);
    start_sos();
    mode1_reset();
    EXPECT_EQ(get<uint16_t>(Region::config, command), 0);
    EXPECT_EQ(get(Region::config, 0x24), 0u);
    EXPECT_EQ(reg(MP0_C2PMSG_81), 0xffffffffu) << "its BARs are gone until the driver is back";
    enable();
    EXPECT_EQ(reg(MP0_C2PMSG_81), 0u);
    EXPECT_EQ(reg(MP1_C2PMSG_90), 1u) << "idle";
}

TEST_F(GpuTest, WhoWantsToKnowIsToldOfResetsOfTheWholeGpu) {
    int resets = 0;
    gpu.set_reset_witness({.asked = [&] { ++resets; }, .done = {}});
    set(MP1_C2PMSG_82, 1u << 1);
    set(MP1_C2PMSG_66, 0x4d);  // one SDMA instance
    EXPECT_EQ(resets, 0);
    mode1_reset();
    EXPECT_EQ(resets, 1) << "with the message, not with the next access";
    gpu.reset();
    EXPECT_EQ(resets, 1) << "the bus did that";
}

TEST_F(GpuTest, ResetAskedForByAnEngineWaitsForTheNextAccess) {
    start_sos();
    gpu.registers().write(MP1_C2PMSG_82, 1);
    gpu.registers().write(MP1_C2PMSG_66, 3);  // as a packet would
    EXPECT_EQ(gpu.registers().read(MP0_C2PMSG_81), 1u);
    EXPECT_EQ(reg(MP0_C2PMSG_81), 0xffffffffu);
    enable();
    EXPECT_EQ(reg(MP0_C2PMSG_81), 0u);
}

TEST_F(GpuTest, FunctionLevelResetThroughConfigSpace) {
    start_sos();
    uint64_t capability = get<uint8_t>(Region::config, 0x34);
    while (capability != 0 && get<uint8_t>(Region::config, capability) != 0x10) {
        capability = get<uint8_t>(Region::config, capability + 1);
    }
    ASSERT_NE(capability, 0u);
    const auto control = get<uint16_t>(Region::config, capability + 8);
    put<uint16_t>(Region::config, capability + 8, control | 0x8000);
    EXPECT_EQ(get<uint16_t>(Region::config, 4), 0);
    EXPECT_EQ(reg(MP0_C2PMSG_81), 0xffffffffu) << "its BARs are gone until the driver is back";
    enable();
    EXPECT_EQ(reg(MP0_C2PMSG_81), 0u);
    EXPECT_EQ(reg(mmRCC_CONFIG_MEMSIZE), 64u);
}

TEST_F(GpuTest, HotResetLeavesTheSecureOsAndVramAlive) {
    start_sos();
    put(Region::bar0, 4096, 0x12345678u);
    set(IH_RB_BASE, 0x1000 >> 8);
    gpu.reset();
    EXPECT_EQ(get<uint16_t>(Region::config, 4), 0);
    enable();
    EXPECT_EQ(reg(MP0_C2PMSG_81), 1u);
    EXPECT_EQ(get(Region::bar0, 4096), 0x12345678u);
    EXPECT_EQ(reg(IH_RB_BASE), 0u);
}

TEST_F(GpuTest, IhDoorbellReachesTheReadPointer) {
    constexpr uint32_t index = 0x1e8;
    set(IH_RB_BASE, 0x1000 >> 8);
    set(IH_RB_CNTL, 1 | 8 << 1 | 1 << 17 | 1 << 28);  // bus address, interrupt enabled
    set(IH_RB_WPTR, 64);
    set(IH_DOORBELL_RPTR, index | 1u << 28);
    host.interrupts = 0;
    put<uint32_t>(Region::bar2, index * 4, 32);
    EXPECT_EQ(host.interrupts, 0) << "the aperture is closed";
    EXPECT_NE(gpu.describe().find("stopped: 1"), std::string::npos);
    set(RCC_DOORBELL_APER_EN, 1);
    put<uint32_t>(Region::bar2, index * 4, 32);
    EXPECT_EQ(host.interrupts, 0) << "it is the command processor's";
    EXPECT_NE(gpu.describe().find("doorbells without owner: 1"), std::string::npos);
    gpu.registers().write_far(DOORBELL0_CTRL_ENTRY_0, index | 8u << 10);
    put<uint32_t>(Region::bar2, index * 4, 32);
    EXPECT_EQ(host.interrupts, 1);
    put<uint64_t>(Region::bar2, index * 4, 64);
    EXPECT_EQ(host.interrupts, 1);
    put<uint8_t>(Region::bar2, index * 4, 32);  // no doorbell write
    EXPECT_EQ(reg(0x1123), 64u);
    put<uint32_t>(Region::bar2, 0x4000, 1);
    EXPECT_NE(gpu.describe().find("doorbells without owner: 2"), std::string::npos);
}

TEST_F(GpuTest, AnEntryOfThePageTablesCountsOnceTheOldOneIsInvalidated) {
    const VmHubLayout hub = mm_hub_layout(profile);
    constexpr uint64_t table = mib, ring = 0x1000;
    constexpr uint64_t valid_system_writeable = 1 | 2 | 1 << 6;
    set(at(hub.ip, hub.VM_CONTEXT0_PAGE_TABLE_BASE_ADDR_LO32), table | 1);
    set(at(hub.ip, hub.VM_CONTEXT0_CNTL), 1);
    set(IH_RB_BASE, ring >> 8);
    set(IH_RB_CNTL, 1 | 8 << 1);  // an address of the hub
    const auto raise_with_entry = [&](uint64_t page) {
        put<uint64_t>(Region::bar0, table + ring / 4096 * 8, page | valid_system_writeable);
        gpu.interrupt({.client_id = 0x14});
    };
    raise_with_entry(0x1000);
    raise_with_entry(0x2000);
    EXPECT_EQ(std::to_integer<int>(host.memory[0x1000]), 0x14);
    EXPECT_EQ(std::to_integer<int>(host.memory[0x1020]), 0x14) << "where the first was";
    set(at(hub.ip, hub.VM_INVALIDATE_ENG0_REQ) + 17, hub.invalidation_of(1));
    EXPECT_EQ(reg(at(hub.ip, hub.VM_INVALIDATE_ENG0_ACK) + 17), 1u);
    raise_with_entry(0x2000);
    EXPECT_EQ(std::to_integer<int>(host.memory[0x2040]), 0x14);
}

TEST_F(GpuTest, InjectedErrorsReachTheDriver) {
    set(IH_RB_BASE, 0x1000 >> 8);
    set(IH_RB_CNTL, 1 | 8 << 1 | 1 << 17 | 1 << 28);
    host.interrupts = 0;
    ASSERT_TRUE(gpu.inject(RasBlock::umc, RasSeverity::poison));
    EXPECT_EQ(host.interrupts, 1);
    EXPECT_EQ(std::to_integer<int>(host.memory[0x1000]), 0x17);  // SOC15_IH_CLIENTID_DF
    ASSERT_TRUE(gpu.inject(RasBlock::gfx, RasSeverity::uncorrectable));
    EXPECT_EQ(host.interrupts, 2);
    EXPECT_NE(reg(BIF_DOORBELL_INT_CNTL) & 4, 0u);
    set(MP1_C2PMSG_66, 0x36);
    EXPECT_EQ(reg(MP1_C2PMSG_82), 1u);
    EXPECT_FALSE(gpu.notify_guest(HostNotification::flr)) << "it is no virtual function";
}

TEST_F(GpuTest, WithoutBusMasteringNothingReachesTheHost) {
    set(IH_RB_BASE, 0x1000 >> 8);
    set(IH_RB_CNTL, 1 | 8 << 1 | 1 << 17 | 1 << 28);
    host.interrupts = 0;
    host.reached.clear();
    put<uint16_t>(Region::config, command, memory_space);
    ASSERT_TRUE(gpu.inject(RasBlock::umc, RasSeverity::poison));
    EXPECT_EQ(host.interrupts, 0) << "an MSI is a write to memory";
    EXPECT_TRUE(host.reached.empty());
    EXPECT_EQ(std::to_integer<int>(host.memory[0x1000]), 0);
    enable();
    ASSERT_TRUE(gpu.inject(RasBlock::umc, RasSeverity::poison));
    EXPECT_EQ(host.interrupts, 1);
    EXPECT_FALSE(host.reached.empty());
}

TEST_F(GpuTest, WithoutMemorySpaceItsBarsAreNotThere) {
    set(0x1123, 5);
    put<uint32_t>(Region::bar0, 0x1000, 6);
    put<uint16_t>(Region::config, command, bus_master);
    EXPECT_EQ(reg(0x1123), 0xffffffffu);
    EXPECT_EQ(get(Region::bar0, 0x1000), 0xffffffffu);
    EXPECT_EQ(get(Region::bar2, 0), 0xffffffffu);
    set(0x1123, 7);
    put<uint32_t>(Region::bar0, 0x1000, 8);
    EXPECT_EQ(get(Region::config, 0), 0x74a11002u) << "configuration space is";
    enable();
    EXPECT_EQ(reg(0x1123), 5u);
    EXPECT_EQ(get(Region::bar0, 0x1000), 6u);
}

TEST_F(GpuTest, UncorrectedBanksOutliveTheResetTheyCause) {
    ASSERT_TRUE(gpu.inject(RasBlock::umc, RasSeverity::uncorrectable));
    set(MP1_C2PMSG_82, 1 | 1 << 16);
    set(MP1_C2PMSG_66, 3);
    enable();
    EXPECT_EQ(reg(BIF_DOORBELL_INT_CNTL) & 4, 0u);
    set(MP1_C2PMSG_66, 0x36);
    EXPECT_EQ(reg(MP1_C2PMSG_82), 1u);
}

TEST_F(GpuTest, WithoutAHostNothingIsSignalled) {
    gpu.detach();
    ASSERT_TRUE(gpu.inject(RasBlock::umc, RasSeverity::uncorrectable));
    EXPECT_EQ(host.interrupts, 0);
    gpu.attach(host);
    enable();
    EXPECT_EQ(reg(BIF_DOORBELL_INT_CNTL) & 4, 0u);  // power-on
}

TEST_F(GpuTest, AHostileDeviceLiesInItsRegistersAndGoesOnAsItWas) {
    set(IH_RB_BASE, 0x1234);
    ASSERT_TRUE(gpu.make_hostile(1, std::array{Surface::registers}, 1));
    EXPECT_NE(reg(IH_RB_BASE), 0x1234u);
    EXPECT_NE(reg(mmRCC_CONFIG_MEMSIZE), 64u);
    EXPECT_EQ(gpu.mutations(), 2u);
    gpu.make_honest();
    EXPECT_EQ(reg(IH_RB_BASE), 0x1234u);
    EXPECT_EQ(gpu.mutations(), 2u);
}

TEST_F(GpuTest, VramIsNoRegisterToLieAbout) {
    set(mmMM_INDEX, 0x80001000);
    set(mmMM_DATA, 0xcafe1234);
    ASSERT_TRUE(gpu.make_hostile(1, std::array{Surface::registers}, 1));
    EXPECT_EQ(reg(mmMM_DATA), 0xcafe1234u) << "a driver reads its whole discovery table so";
    EXPECT_EQ(gpu.mutations(), 0u);
    EXPECT_NE(reg(mmMM_INDEX), 0x80001000u);
}

TEST_F(GpuTest, LiesInRegistersAreRepeatedByTheirSeed) {
    const auto mutated = [&](uint64_t seed) {
        EXPECT_TRUE(gpu.make_hostile(seed, std::array{Surface::registers}, 3));
        std::vector<uint32_t> values;
        for (int i = 0; i < 100; ++i) {
            values.push_back(reg(mmRCC_CONFIG_MEMSIZE));
        }
        return values;
    };
    const auto first = mutated(1);
    EXPECT_EQ(mutated(1), first);
    EXPECT_NE(mutated(2), first);
}

TEST_F(GpuTest, AHostileDiscoveryTableAddsUp) {
    const uint64_t place = 64 * mib - discovery_offset_from_end;
    using Table = std::array<std::byte, 2048>;
    const auto honest = get<Table>(Region::bar0, place);
    // The sizes in the header and the list of tables are spared by this seed.
    ASSERT_TRUE(gpu.make_hostile(1, std::array{Surface::discovery}, 100));
    const auto hostile = get<Table>(Region::bar0, place);
    EXPECT_NE(hostile, honest);
    Table sealed = hostile;
    seal_discovery_binary(sealed);
    EXPECT_EQ(sealed, hostile);
    ASSERT_TRUE(gpu.make_hostile(1, std::array{Surface::discovery}, 100));
    EXPECT_EQ(get<Table>(Region::bar0, place), hostile) << "repeated";
    gpu.reset();
    enable();
    EXPECT_NE(get<Table>(Region::bar0, place), hostile) << "another one after each reset";
    ASSERT_TRUE(gpu.make_hostile(1, std::array{Surface::discovery}, 0));
    EXPECT_EQ(get<Table>(Region::bar0, place), honest);
}

TEST_F(GpuTest, OnlyAVirtualFunctionLiesInAMailbox) {
    const auto refused = gpu.make_hostile(1, std::array{Surface::registers, Surface::mailbox}, 1);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "only a virtual function has a mailbox");
    EXPECT_EQ(reg(mmRCC_CONFIG_MEMSIZE), 64u) << "and nothing else was changed";
}

TEST_F(GpuTest, LiesChangeNothingOfWhatTheDeviceReachesForInMemory) {
    const auto reached = [&] {
        set(IH_RB_BASE, 0x1000 >> 8);
        set(IH_RB_CNTL, 1 | 8 << 1 | 1 << 8 | 1 << 17 | 1 << 28);  // bus address, write-back
        set(IH_RB_WPTR_ADDR_LO, 0x800);
        set(IH_RB_WPTR, 0);
        host.reached.clear();
        for (int i = 0; i < 100; ++i) {
            gpu.interrupt({.client_id = 0x14});
            reg(IH_RB_WPTR);
        }
        return host.reached;
    };
    const auto honest = reached();
    ASSERT_EQ(honest.size(), 200u);
    ASSERT_TRUE(gpu.make_hostile(1, std::array{Surface::registers, Surface::interrupts}, 1));
    EXPECT_EQ(reached(), honest);
}

TEST_F(GpuTest, RandomAccessesToAHostileDeviceAreSurvived) {
    ASSERT_TRUE(
        gpu.make_hostile(1,
                         std::array{Surface::registers, Surface::write_backs, Surface::interrupts,
                                    Surface::discovery, Surface::firmware},
                         2));
    uint32_t state = 1;
    const auto random = [&] { return state = state * 1664525 + 1013904223; };
    for (int i = 0; i < 20'000; ++i) {
        const uint64_t offset = random() % (2 * mib) & ~3u;
        if ((random() >> 16) % 2 == 0) {
            put(Region::bar5, offset, random());
        } else {
            get(Region::bar5, offset);
        }
    }
    EXPECT_GT(gpu.mutations(), 4000u);
    gpu.make_honest();
    gpu.detach();
    gpu.attach(host);
    enable();
    EXPECT_EQ(reg(mmRCC_CONFIG_MEMSIZE), 64u);
}

TEST_F(GpuTest, RandomAccessesAreSurvived) {
    uint32_t state = 99;
    const auto random = [&] { return state = state * 1664525 + 1013904223; };
    for (int round = 0; round < 20000; ++round) {
        std::array<std::byte, 16> data;
        for (std::byte& byte : data) {
            byte = static_cast<std::byte>(random() >> 24);
        }
        const auto region = static_cast<Region>((random() >> 8) % 9);
        const uint64_t size = std::max<uint64_t>(gpu.region_info(region).size, 1);
        const uint64_t offset = (uint64_t{random()} << 16 | random() >> 16) % (size + 16);
        const auto some = std::span(data).first((random() >> 8) % (data.size() + 1));
        if (region == Region::config || (random() >> 20) % 2 == 0) {
            gpu.read(region, offset, some);
        } else {
            gpu.write(region, offset, some);
        }
    }
    gpu.reset();
    enable();
    EXPECT_EQ(reg(mmRCC_CONFIG_MEMSIZE), 64u);
}

/// On a loop: resets take their time.
class GpuResetTest : public GpuTest {
protected:
    GpuResetTest() {
        gpu.detach();
        slow.attach(host);
        enable();
    }
    static constexpr uint64_t pcie_devctl = 0x64 + 8;
    static constexpr std::chrono::milliseconds reset_time{20};

    PciFunction& function() override { return slow; }
    void ask_for_mode1() { ask_for(1); }
    void ask_for(uint32_t mode) {
        set(MP1_C2PMSG_90, 0);
        set(MP1_C2PMSG_82, mode);
        set(MP1_C2PMSG_66, 3);
    }
    bool comes_back() {
        return hp::run_until(loop, [&] { return get(Region::config, 0) == 0x74a11002u; });
    }
    void expect_nobody() {
        EXPECT_EQ(get(Region::config, 0), 0xffffffffu);
        enable();  // lost
        EXPECT_EQ(reg(MP1_C2PMSG_90), 0xffffffffu);
        EXPECT_EQ(get(Region::bar0, 0), 0xffffffffu);
        EXPECT_EQ(get(Region::bar2, 0), 0xffffffffu);
    }

    hp::EventLoop loop;
    Gpu slow{profile, {.eeprom_path = {}, .loop = &loop, .reset_time = reset_time}, kicker};
};

TEST_F(GpuResetTest, TheSmuAnswersBeforeTheAsicGoes) {
    put(Region::config, 0x24, 0xfaa00000u);
    set(IH_RB_BASE, 0x1000);
    ask_for_mode1();
    EXPECT_EQ(reg(IH_RB_BASE), 0x1000u) << "not yet";
    EXPECT_EQ(reg(MP1_C2PMSG_90), 1u);
    expect_nobody();
    ASSERT_TRUE(comes_back());
    EXPECT_EQ(get<uint16_t>(Region::config, command), 0);
    EXPECT_EQ(get(Region::config, 0x24), 0u);
    enable();
    EXPECT_EQ(reg(IH_RB_BASE), 0u);
    EXPECT_EQ(reg(mmRCC_CONFIG_MEMSIZE), 64u);
}

/// As amdgpu_device_link_reset() and psp_v13_0_wait_for_bootloader() look at it.
TEST_F(GpuResetTest, TheSmuResetsTheLinkAndTheBoardStays) {
    set(MP0_C2PMSG_35, 0x20000);
    reg(MP0_C2PMSG_81);
    ASSERT_EQ(reg(MP0_C2PMSG_81), 1u);
    put(Region::config, 0x24, 0xfaa00000u);
    put<uint32_t>(Region::bar0, mib, 0x12345678);
    set(IH_RB_BASE, 0x1000);
    int resets = 0, done = 0;
    slow.set_reset_witness({.asked = [&] { ++resets; }, .done = [&] { ++done; }});
    ask_for(4);
    EXPECT_EQ(reg(MP1_C2PMSG_90), 1u) << "answered";
    EXPECT_EQ(resets, 1);
    EXPECT_EQ(done, 1);
    EXPECT_EQ(reg(IH_RB_BASE), 0u) << "what the driver has set up is gone";
    EXPECT_EQ(reg(MP0_C2PMSG_35), 0x80000000u) << "the boot loader is ready";
    EXPECT_EQ(reg(MP0_C2PMSG_81), 1u) << "the secure OS lives through it";
    EXPECT_EQ(get(Region::config, 0x24), 0xfaa00000u);
    EXPECT_EQ(get<uint32_t>(Region::bar0, mib), 0x12345678u);
}

TEST_F(GpuResetTest, AnAnswerThatNobodyReadsHoldsNoResetUp) {
    ask_for_mode1();
    EXPECT_TRUE(hp::run_until(loop, [&] { return get(Region::config, 0) == 0xffffffffu; }));
    EXPECT_TRUE(comes_back());
}

TEST_F(GpuResetTest, AFunctionLevelResetTakesItsTimeToo) {
    put<uint16_t>(Region::config, pcie_devctl, 0x8000);
    expect_nobody();
    ASSERT_TRUE(comes_back());
    EXPECT_EQ(get<uint16_t>(Region::config, command), 0);
}

TEST_F(GpuResetTest, WhoWantsToKnowIsToldOnce) {
    int resets = 0, done = 0;
    slow.set_reset_witness({.asked = [&] { ++resets; }, .done = [&] { ++done; }});
    ask_for_mode1();
    EXPECT_EQ(resets, 1) << "with the message";
    EXPECT_EQ(done, 0);
    EXPECT_EQ(reg(MP1_C2PMSG_90), 1u);
    EXPECT_EQ(resets, 1);
    EXPECT_EQ(done, 1);
    ASSERT_TRUE(comes_back());
    put<uint16_t>(Region::config, pcie_devctl, 0x8000);
    EXPECT_EQ(resets, 2);
    EXPECT_EQ(done, 2);
}

TEST_F(GpuResetTest, AColdBoardIsThereAtOnce) {
    put<uint16_t>(Region::config, pcie_devctl, 0x8000);
    slow.detach();
    slow.attach(host);
    EXPECT_EQ(get(Region::config, 0), 0x74a11002u);
    enable();
    ask_for_mode1();
    EXPECT_EQ(get(Region::config, 0), 0x74a11002u);
    slow.reset();  // the link's, before the ASIC's began
    bool over = false;
    const auto later = loop.after(3 * reset_time, [&] { over = true; });
    EXPECT_TRUE(hp::run_until(loop, [&] {
        EXPECT_EQ(get(Region::config, 0), 0x74a11002u) << "it took the place of the other one";
        return over;
    }));
}

class VfGpuTest : public GpuTest {
protected:
    VfGpuTest() : GpuTest("mi300x-vf") {}
};

TEST_F(VfGpuTest, BootsAsAVirtualFunction) {
    EXPECT_EQ(get(Region::config, 0), 0x74b51002u);
    EXPECT_EQ(reg(0xde5) & 1, 1u);
    EXPECT_EQ(get<uint16_t>(Region::bar0, 0), 0xaa55);
    EXPECT_EQ(get(Region::bar0, 64 * 1024 + 4), 2u);  // PF2VF version
    EXPECT_EQ(get(Region::bar0, 64 * mib - 64 * 1024), 0x28211407u);
    EXPECT_FALSE(gpu.inject(RasBlock::umc, RasSeverity::poison));
}

TEST_F(VfGpuTest, ItsHostResetsIt) {
    constexpr uint32_t TRN_DW0 = 0xe56, RCV_DW0 = 0xe5a, CONTROL = 0xe5e;
    put<uint32_t>(Region::bar5, 4 * (TRN_DW0 + 1), 7);
    ASSERT_TRUE(gpu.notify_guest(HostNotification::flr));
    EXPECT_EQ(reg(RCV_DW0), 2u);
    put<uint32_t>(Region::bar5, 4 * TRN_DW0, 201);
    put<uint32_t>(Region::bar5, 4 * CONTROL, 1);
    EXPECT_EQ(reg(TRN_DW0 + 1), 0u) << "the reset";
    EXPECT_EQ(reg(RCV_DW0), 3u) << "and its end";
    EXPECT_TRUE(gpu.notify_guest(HostNotification::unrecoverable_error));
    EXPECT_EQ(reg(RCV_DW0), 17u);
}

TEST_F(VfGpuTest, AHostileHostsBlockOfDataAddsUp) {
    constexpr uint64_t place = vf_pf2vf_offset;
    using Block = std::array<std::byte, 1024>;
    const auto honest = get<Block>(Region::bar0, place);
    put<uint32_t>(Region::bar0, vf_vbios_offset, 0x12345678);
    ASSERT_TRUE(gpu.make_hostile(1, std::array{Surface::mailbox}, 50));
    const auto hostile = get<Block>(Region::bar0, place);
    EXPECT_NE(hostile, honest);
    Block sealed = hostile;
    seal_pf2vf(sealed);
    EXPECT_EQ(sealed, hostile);
    EXPECT_EQ(get(Region::bar0, vf_vbios_offset), 0x12345678u) << "other memory is the driver's";
    ASSERT_TRUE(gpu.make_hostile(1, std::array{Surface::mailbox}, 0));
    EXPECT_EQ(get<Block>(Region::bar0, place), honest);
}

TEST_F(VfGpuTest, MailboxByBytesAndResetByTheHost) {
    constexpr uint64_t control = 0xe5e * 4;
    put(Region::bar0, 3 * mib, 1u);
    set(0xe56, 5);  // IDH_REQ_GPU_RESET_ACCESS
    put<uint8_t>(Region::bar5, control, 1);
    EXPECT_EQ(get<uint8_t>(Region::bar5, control) & 2, 2);
    EXPECT_EQ(reg(0xe5a), 1u);  // ready to access, after the reset
    EXPECT_EQ(get(Region::bar0, 3 * mib), 0u);
    EXPECT_EQ(get<uint16_t>(Region::bar0, 0), 0xaa55);
    put<uint8_t>(Region::bar5, control + 1, 2);
    EXPECT_EQ(reg(0xe5a), 0u);
}

class Navi21Test : public GpuTest {
protected:
    Navi21Test() : GpuTest("navi21") {}

    static constexpr uint32_t ROM_INDEX = 0x168e4, ROM_DATA = 0x168e5;
    static constexpr uint32_t BIOS_SCRATCH_7 = 0x53;
};

TEST_F(Navi21Test, IsADisplayControllerWithAVideoBios) {
    EXPECT_EQ(get(Region::config, 0), 0x73a11002u);
    EXPECT_EQ(get<uint32_t>(Region::config, 8) >> 8, 0x038000u);
    EXPECT_EQ(gpu.region_info(Region::bar5).size, mib);
    EXPECT_EQ(get(Region::bar0, 64 * mib - 64 * 1024), 0x28211407u);  // discovery
    // amdgpu_soc15_read_bios_from_rom()
    set(ROM_INDEX, 0);
    EXPECT_EQ(reg(ROM_DATA) & 0xffff, 0xaa55u);
    EXPECT_NE(reg(BIOS_SCRATCH_7) & 0x200, 0u) << "posted";
}

TEST_F(Navi21Test, GraphicsFirmwareIsLoaded) {
    // gfx_v10_0_wait_for_rlc_autoload_complete()
    EXPECT_EQ(reg(0x1260 + 0xf40), 0u);                      // mmCP_STAT
    EXPECT_EQ(reg(0xa000 + 0x4e8d) & 0x80000000, 1u << 31);  // mmRLC_RLCS_BOOTLOAD_STATUS
    EXPECT_EQ(reg(0xa000 + 0x4c00) & 1, 1u);                 // mmRLC_CNTL
    set(0xa000 + 0x4ca0, 3);                                 // mmRLC_SAFE_MODE
    EXPECT_EQ(reg(0xa000 + 0x4ca0) & 1, 0u);
}

TEST_F(Navi21Test, Mode1ResetThroughTheSmuIsAPowerOn) {
    start_sos();
    set(BIOS_SCRATCH_7, 0);
    put(Region::bar0, 3 * mib, 1u);
    set(MP1_C2PMSG_66, 0x30);
    enable();
    EXPECT_EQ(get(Region::bar0, 3 * mib), 0u);
    EXPECT_EQ(reg(MP0_C2PMSG_81), 0u);
    EXPECT_NE(reg(BIOS_SCRATCH_7) & 0x200, 0u);
}

TEST_F(Navi21Test, HasNoRas) {
    EXPECT_FALSE(gpu.inject(RasBlock::umc, RasSeverity::poison));
}

class Mi308xTest : public GpuTest {
protected:
    Mi308xTest() : GpuTest("mi308x") {}

    static constexpr uint32_t xcc_stride = 0x20000;  // the second XCC of each AID is harvested
    static constexpr uint32_t CP_HYP_XCP_CTL = 0xf828;
    static constexpr uint32_t PARTITION_COMPUTE_STATUS = 0xe83;
};

TEST_F(Mi308xTest, EachXccAndEachAidHasItsHub) {
    for (uint32_t xcc = 0; xcc < 4; ++xcc) {
        EXPECT_EQ(reg(0x295c + xcc * xcc_stride), 0x8000u);    // MC_VM_FB_LOCATION_BASE
        set(0x2883 + xcc * xcc_stride, 1u << xcc);             // VM_INVALIDATE_ENG0_REQ
        EXPECT_EQ(reg(0x2895 + xcc * xcc_stride), 1u << xcc);  // VM_INVALIDATE_ENG0_ACK
        set(0xec05 + xcc * xcc_stride, 3);                     // RLC_SAFE_MODE
        EXPECT_EQ(reg(0xec05 + xcc * xcc_stride), 2u);
    }
    for (const uint32_t mmhub : {0x18000u, 0x28000u, 0x38000u, 0x36000u}) {
        EXPECT_EQ(reg(mmhub + 0xc9c), 0x8000u);
    }
    EXPECT_EQ(reg(0x1295c), 0u) << "harvested";
}

TEST_F(Mi308xTest, IsOnePartition) {
    EXPECT_EQ(reg(PARTITION_COMPUTE_STATUS), 0u);
    for (uint32_t xcc = 0; xcc < 4; ++xcc) {
        EXPECT_EQ(reg(CP_HYP_XCP_CTL + xcc * xcc_stride), 4u << 3 | xcc);
    }
}

class Mi350xTest : public GpuTest {
protected:
    Mi350xTest() : GpuTest("mi350x") {}
};

TEST_F(Mi350xTest, HasTheSmuOfItsVersion) {
    EXPECT_EQ(get(Region::config, 0), 0x75a01002u);
    set(MP1_C2PMSG_66, 0x2);
    EXPECT_EQ(reg(MP1_C2PMSG_90), 1u);
    EXPECT_EQ(reg(MP1_C2PMSG_82), 0x04561000u);
}

TEST_F(Mi350xTest, Mode1ResetThroughTheSmuIsAPowerOn) {
    start_sos();
    mode1_reset();
    enable();
    EXPECT_EQ(reg(MP0_C2PMSG_81), 0u);
}

TEST_F(Mi350xTest, ItsErrorsCanBeInjected) {
    EXPECT_TRUE(gpu.inject(RasBlock::umc, RasSeverity::poison));
}

/// Node 1 of the hive; the memory of node 0 is an array.
class HiveGpuTest : public testing::Test {
protected:
    class Peer : public PeerMemory {
    public:
        std::span<std::byte> window(unsigned node, uint64_t offset, uint64_t length,
                                    bool) override {
            EXPECT_EQ(node, 0u);
            return std::span(memory).subspan(offset, std::min(length, memory.size() - offset));
        }

        std::vector<std::byte> memory = std::vector<std::byte>(64 * 1024);
    };

    static Profile node_1() {
        Profile profile = small("mi300x-hive");
        profile.hive.node = 1;
        return profile;
    }

    uint32_t reg(uint32_t dword) {
        uint32_t value = 0;
        gpu.read(Region::bar5, uint64_t{dword} * 4, std::as_writable_bytes(std::span(&value, 1)));
        return value;
    }
    void set(uint32_t dword, uint32_t value) {
        gpu.write(Region::bar5, uint64_t{dword} * 4, std::as_bytes(std::span(&value, 1)));
    }

    void enable() {
        const uint16_t memory_and_bus_master = 6;
        gpu.write(Region::config, 4, std::as_bytes(std::span(&memory_and_bus_master, 1)));
    }

    Profile profile = node_1();
    Peer peer;
    NoKicker kicker;
    Gpu gpu{profile, {.eeprom_path = {}, .peers = &peer}, kicker};
};

TEST_F(HiveGpuTest, SaysSoAfterEachReset) {
    constexpr uint32_t XGMI_LFB_CNTL = 0x2000 + 0x957;
    enable();
    EXPECT_EQ(reg(XGMI_LFB_CNTL), 0x11u);
    set(XGMI_LFB_CNTL, 0);
    gpu.reset();
    enable();
    EXPECT_EQ(reg(XGMI_LFB_CNTL), 0x11u);
}

/// The interrupt ring in the memory of the peer: an engine of this GPU that writes there.
TEST_F(HiveGpuTest, ItsEnginesReachThePeer) {
    FakeHost host;
    gpu.attach(host);
    enable();
    const uint64_t ring = profile.fb_base + 0x4000;
    set(IH_RB_BASE, static_cast<uint32_t>(ring >> 8));
    set(IH_RB_BASE + 1, static_cast<uint32_t>(ring >> 40));
    set(IH_RB_CNTL, 1u | 12u << 1 | 4u << 28 | 1u << 17);
    gpu.interrupt({.client_id = 0x1b, .source_id = 7});
    EXPECT_EQ(peer.memory[0x4000], std::byte{0x1b});
    EXPECT_TRUE(host.reached.empty()) << "not over the bus";
}

TEST(HiveGpu, WithoutPeersItIsRefused) {
    NoKicker kicker;
    EXPECT_THROW(Gpu(small("mi300x-hive"), {}, kicker), std::invalid_argument);
}

TEST(GpuNames, RegistersHaveNamesPerProfile) {
    EXPECT_EQ(Gpu::register_name(*find_profile("mi300x"), mmRCC_CONFIG_MEMSIZE),
              "regRCC_DEV0_EPF0_RCC_CONFIG_MEMSIZE");
    EXPECT_EQ(Gpu::register_name(*find_profile("mi300x-vf"), 0xe5e), "mmMAILBOX_CONTROL");
    EXPECT_EQ(Gpu::register_name(*find_profile("mi300x"), 0x7ffff), "");
}

}  // namespace
}  // namespace gpuemu
