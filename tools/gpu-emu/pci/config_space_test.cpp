// SPDX-License-Identifier: GPL-2.0
// Purpose: the configuration space as PCI enumeration code sees it. Offsets are written out from
// the PCI and PCI Express specifications on purpose: a second reading of them, independent of
// config_space.cpp.
#include "gpu-emu/pci/config_space.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <stdexcept>

namespace gpuemu {
namespace {

constexpr ConfigSpace::Identity gpu_identity{.vendor = 0x1002,
                                             .device = 0x74a1,
                                             .subsystem_vendor = 0x1002,
                                             .subsystem = 0x74a2,
                                             .revision = 3,
                                             .class_code = 0x120000};

class ConfigSpaceTest : public testing::Test {
protected:
    uint32_t get(uint64_t offset, unsigned bytes) {
        std::array<std::byte, 4> raw{};
        space.read(offset, std::span(raw).first(bytes));
        uint32_t value = 0;
        for (unsigned i = 0; i < bytes; ++i) {
            value |= std::to_integer<uint32_t>(raw[i]) << (8 * i);
        }
        return value;
    }

    void put(uint64_t offset, unsigned bytes, uint32_t value) {
        std::array<std::byte, 4> raw{};
        for (unsigned i = 0; i < bytes; ++i) {
            raw[i] = static_cast<std::byte>(value >> (8 * i));
        }
        space.write(offset, std::span(raw).first(bytes));
    }

    /// Capability id -> offset, as pci_find_capability() walks it. Fails on a loop.
    std::map<uint32_t, uint32_t> capabilities() {
        std::map<uint32_t, uint32_t> found;
        std::set<uint32_t> seen;
        for (uint32_t at = get(0x34, 1); at != 0; at = get(at + 1, 1)) {
            EXPECT_EQ(at & 3, 0u) << "capabilities are dword aligned";
            EXPECT_GE(at, 0x40u);
            if (!seen.insert(at).second) {
                ADD_FAILURE() << "capability chain loops at " << at;
                break;
            }
            found[get(at, 1)] = at;
        }
        return found;
    }

    int resets = 0;
    ConfigSpace space{gpu_identity, [this] { ++resets; }};
};

TEST_F(ConfigSpaceTest, HeaderIdentifiesTheFunction) {
    EXPECT_EQ(get(0x00, 4), 0x74a11002u);
    EXPECT_EQ(get(0x08, 4), 0x12000003u);
    EXPECT_EQ(get(0x2c, 4), 0x74a21002u);
    EXPECT_EQ(get(0x0e, 1), 0u) << "header type 0, single function";
    EXPECT_EQ(get(0x06, 2) & 0x10, 0x10u) << "capability list present";
    EXPECT_EQ(get(0x30, 4), 0u) << "no expansion ROM";
}

TEST_F(ConfigSpaceTest, AnExpansionRomSaysItsSizeAndCanBeEnabled) {
    space.set_rom(8192);
    EXPECT_EQ(get(0x30, 4), 0u);
    put(0x30, 4, 0xffffffff);
    EXPECT_EQ(get(0x30, 4), 0xffffe001u);
    put(0x30, 4, 0xfe000001);
    EXPECT_EQ(get(0x30, 4), 0xfe000001u);
    space.reset();
    EXPECT_EQ(get(0x30, 4), 0u);
    EXPECT_THROW(space.set_rom(1024), std::invalid_argument);
    EXPECT_THROW(space.set_rom(6144), std::invalid_argument);
}

TEST_F(ConfigSpaceTest, IdentityTakesNoWrites) {
    put(0x00, 4, 0xffffffff);
    put(0x08, 4, 0xffffffff);
    put(0x34, 1, 0xff);
    EXPECT_EQ(get(0x00, 4), 0x74a11002u);
    EXPECT_EQ(get(0x08, 4), 0x12000003u);
    EXPECT_EQ(capabilities().size(), 3u);
}

TEST_F(ConfigSpaceTest, CapabilityChainHasPowerManagementExpressAndMsiOnly) {
    const auto caps = capabilities();
    ASSERT_EQ(caps.size(), 3u);
    ASSERT_TRUE(caps.contains(0x01));
    ASSERT_TRUE(caps.contains(0x10));
    ASSERT_TRUE(caps.contains(0x05));
    EXPECT_FALSE(caps.contains(0x11)) << "MSI-X makes QEMU abort on unplug";

    const uint32_t express = caps.at(0x10);
    EXPECT_EQ(get(express + 2, 2) & 0xff, 0x02u) << "version 2, endpoint";
    EXPECT_EQ(get(express + 4, 4) >> 28 & 1, 1u) << "function-level reset";
    EXPECT_EQ(get(express + 0x0c, 4) & 0x3ff, 0x104u) << "x16, 16 GT/s";
    EXPECT_EQ(get(express + 0x12, 2) & 0x3ff, 0x104u) << "the link runs at what it can";

    const uint32_t msi = caps.at(0x05);
    EXPECT_EQ(get(msi + 2, 2) & 0x80, 0x80u) << "64 bit";
    EXPECT_EQ(get(msi + 2, 2) >> 1 & 7, 0u) << "one vector";
}

TEST_F(ConfigSpaceTest, ExtendedSpaceHoldsOneVendorCapability) {
    EXPECT_EQ(get(0x100, 4) & 0xffff, 0x000bu);
    EXPECT_EQ(get(0x100, 4) >> 20, 0u) << "last of the chain";
    EXPECT_EQ(get(0x104, 4) >> 20, 0x10u) << "its length";
}

TEST_F(ConfigSpaceTest, DeviceSerialNumberFollowsTheVendorCapability) {
    ConfigSpace::Identity numbered = gpu_identity;
    numbered.serial = 0x0123456789abcdef;
    space = ConfigSpace(numbered);
    const auto check = [this] {
        const uint32_t at = get(0x100, 4) >> 20;
        ASSERT_GE(at, 0x110u) << "behind the vendor's";
        EXPECT_EQ(get(at, 4), 0x00010003u) << "Device Serial Number, version 1, the last one";
        EXPECT_EQ(get(at + 4, 4), 0x89abcdefu);
        EXPECT_EQ(get(at + 8, 4), 0x01234567u);
    };
    check();
    put(0x114, 4, 0);
    space.reset();
    check();
}

TEST_F(ConfigSpaceTest, BarsReportTheirSizes) {
    space.set_bar(0, 1ull << 33, true, true);
    space.set_bar(2, 2u << 20, true, true);
    space.set_bar(5, 2u << 20, false, false);
    for (uint64_t bar = 0x10; bar <= 0x24; bar += 4) {
        put(bar, 4, 0xffffffff);
    }
    EXPECT_EQ(get(0x10, 4), 0x0000000cu) << "8 GiB: no address bit in the low half";
    EXPECT_EQ(get(0x14, 4), 0xfffffffeu);
    EXPECT_EQ(get(0x18, 4), 0xffe0000cu);
    EXPECT_EQ(get(0x1c, 4), 0xffffffffu);
    EXPECT_EQ(get(0x20, 4), 0u) << "no BAR 4";
    EXPECT_EQ(get(0x24, 4), 0xffe00000u);

    put(0x18, 4, 0xe0000000);
    put(0x1c, 4, 0x7);
    EXPECT_EQ(get(0x18, 4), 0xe000000cu);
    EXPECT_EQ(get(0x1c, 4), 0x7u);
    put(0x1a, 1, 0x20);
    EXPECT_EQ(get(0x18, 4), 0xe020000cu) << "byte writes reach only their byte";
}

TEST_F(ConfigSpaceTest, ImpossibleBarsAreRefused) {
    EXPECT_THROW(space.set_bar(5, 1 << 20, true, false), std::invalid_argument);
    EXPECT_THROW(space.set_bar(6, 1 << 20, false, false), std::invalid_argument);
    EXPECT_THROW(space.set_bar(0, 3 << 20, true, false), std::invalid_argument);
    EXPECT_THROW(space.set_bar(0, 8, false, false), std::invalid_argument);
    EXPECT_THROW(space.set_bar(0, 1ull << 32, false, false), std::invalid_argument);
}

TEST_F(ConfigSpaceTest, CommandEnablesAndStatusClearsByOne) {
    EXPECT_FALSE(space.memory_enabled());
    put(0x04, 2, 0xffff);
    EXPECT_EQ(get(0x04, 2), 0x0546u) << "no I/O space to enable";
    EXPECT_TRUE(space.memory_enabled());
    EXPECT_TRUE(space.bus_master());
    put(0x06, 2, 0xffff);
    EXPECT_EQ(get(0x06, 2), 0x0010u);
}

TEST_F(ConfigSpaceTest, TheHostPutsItToSleepAndWakesItUp) {
    const uint32_t pmcsr = capabilities().at(0x01) + 4;
    EXPECT_FALSE(space.in_d3hot());
    put(pmcsr, 2, 0x3);
    EXPECT_TRUE(space.in_d3hot());
    EXPECT_EQ(get(pmcsr, 2), 0x000bu) << "no soft reset";
    put(pmcsr, 2, 0x0);
    EXPECT_FALSE(space.in_d3hot());
}

TEST_F(ConfigSpaceTest, FunctionLevelResetForgetsWhatTheHostWrote) {
    space.set_bar(5, 2u << 20, false, false);
    const uint32_t express = capabilities().at(0x10);
    put(0x24, 4, 0xfea00000);
    put(0x04, 2, 0x6);
    put(express + 8, 2, 0x0100);
    EXPECT_EQ(resets, 0);

    put(express + 8, 2, 0x8000);
    EXPECT_EQ(resets, 1);
    EXPECT_EQ(get(0x24, 4), 0u);
    EXPECT_EQ(get(0x04, 2), 0u);
    EXPECT_EQ(get(express + 8, 2), 0x2010u) << "the reset bit itself reads zero";

    put(express + 9, 1, 0x80);
    EXPECT_EQ(resets, 2) << "a byte write of the upper half starts it too";
}

TEST_F(ConfigSpaceTest, FunctionLevelResetKeepsWhatTheLinkCountsOn) {
    const uint32_t express = capabilities().at(0x10);
    constexpr uint32_t aspm_and_common_clock = 0x43, gen3 = 3;
    put(express + 8, 2, 0x5020);  // payloads of 256 bytes, requests of 4096
    put(express + 0x10, 2, aspm_and_common_clock);
    put(express + 0x30, 2, gen3);
    put(express + 8, 2, 0xd020);
    EXPECT_EQ(resets, 1);
    EXPECT_EQ(get(express + 8, 2), 0x2030u) << "the payload size alone; the rest is its default";
    EXPECT_EQ(get(express + 0x10, 2), aspm_and_common_clock);
    EXPECT_EQ(get(express + 0x30, 2), gen3);
    put(express + 0x11, 1, 0xff);
    EXPECT_EQ(get(express + 0x11, 1), 0u) << "what cannot be written still cannot";
    space.reset();
    EXPECT_EQ(get(express + 8, 2), 0x2010u);
    EXPECT_EQ(get(express + 0x10, 2), 0u);
    EXPECT_EQ(get(express + 0x30, 2), 4u);
}

TEST_F(ConfigSpaceTest, BeyondTheEndIsOnes) {
    EXPECT_EQ(get(4094, 4), 0xffff0000u);
    EXPECT_EQ(get(~0ull, 1), 0xffu);
    put(4094, 4, 0);
    EXPECT_EQ(get(4096, 4), 0xffffffffu);
}

}  // namespace
}  // namespace gpuemu
