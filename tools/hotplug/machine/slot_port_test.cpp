// SPDX-License-Identifier: GPL-2.0
// Purpose: the root port and the black hole against a fake configuration space: addresses, the
// surprise pair, the copied BARs and the order of the writes. Thread: the fake's and the test's.
#include "hotplug/machine/slot_port.h"

#include <gtest/gtest.h>

#include "hotplug/base/fake_server_for_test.h"
#include "hotplug/machine/black_hole.h"
#include "hotplug/machine/fake_pci_for_test.h"

namespace hotplug {
namespace {

constexpr unsigned port_device = 4;
constexpr unsigned hole_device = 0x10;
constexpr unsigned bus = 3;

class SlotPortTest : public testing::Test {
protected:
    SlotPortTest() {
        auto port = [](unsigned offset) { return ecam_address(0, port_device, offset); };
        pci_.poke(port(0x19), bus, 1);
        pci_.poke(port(0x20), 0xfe20fe00, 4);
        pci_.poke(port(0x34), 0x40, 1);
        pci_.poke(port(0x40), 0x5405, 2);  // MSI, next 0x54
        pci_.poke(port(0x54), 0x0010, 2);  // PCI Express, the last
        pci_.poke(port(0x54 + 0x18), 0x01f1, 2);
        // 64-bit prefetchable VRAM and doorbells, no BAR4, 32-bit registers.
        const uint32_t bars[] = {0x4000000c, 0x00000039, 0x8000000c, 0x00000039, 0, 0xfe800000};
        for (unsigned i = 0; i < 6; ++i) {
            pci_.poke(ecam_address(bus, 0, 0x10 + 4 * i), bars[i], 4);
        }
    }
    void SetUp() override {
        auto client =
            QtestClient::connect(server_.path(), Deadline::after(std::chrono::seconds(10)));
        ASSERT_TRUE(client) << client.error().message;
        client_ = std::move(*client);
    }
    std::string last_packet() const { return server_.packets().back(); }

    FakePci pci_;
    FakeServer server_{[this](const std::string& line) { return pci_.answer(line); }};
    std::unique_ptr<QtestClient> client_;
};

TEST_F(SlotPortTest, EcamAddresses) {
    EXPECT_EQ(ecam_address(0, 0, 0), 0xb0000000u);
    EXPECT_EQ(ecam_address(1, 2, 0x34), 0xb0110034u);
    EXPECT_EQ(ecam_address(0xff, 0x1f, 0xffc), 0xbfff8ffcu);
    EXPECT_EQ(ecam_address(0xff, 0x1f, 0xffc, 7), 0xbffffffcu);
}

TEST_F(SlotPortTest, FindsItsBus) {
    EXPECT_EQ(SlotPort(*client_, port_device).secondary_bus().value(), bus);
    EXPECT_EQ(SlotPort(*client_, port_device).bdf().value(), "0000:00:04.0");
}

TEST_F(SlotPortTest, APortMayBeAFurtherFunction) {
    pci_.poke(ecam_address(0, port_device, 0x19, 3), bus + 1, 1);
    EXPECT_EQ(SlotPort(*client_, port_device, 3).secondary_bus().value(), bus + 1);
    const auto none = SlotPort(*client_, port_device, 4).secondary_bus();
    ASSERT_FALSE(none);
    EXPECT_NE(none.error().message.find("00:04.4"), std::string::npos);
}

/// The switch behind 00:04.0: its upstream port is 03:00.0, its downstream ports are on bus 5, and
/// behind the second of them is bus 7.
TEST_F(SlotPortTest, APortOfASwitch) {
    pci_.poke(ecam_address(bus, 0, 0x19), 5, 1);
    pci_.poke(ecam_address(5, 1, 0x19), 7, 1);
    pci_.poke(ecam_address(5, 1, 0x34), 0x40, 1);
    pci_.poke(ecam_address(5, 1, 0x40), 0x0010, 2);
    pci_.poke(ecam_address(5, 1, 0x40 + 0x18), 0x01f1, 2);
    SlotPort port(*client_, DownstreamPort{port_device, 1});
    EXPECT_EQ(port.bdf().value(), "0000:05:01.0");
    EXPECT_EQ(port.secondary_bus().value(), 7);
    ASSERT_TRUE(port.surprise_removal(Restore::yes));
    EXPECT_EQ(last_packet(), "writew 0xb0508058 0x7f1\nwritew 0xb0508058 0x1f1\n");
    EXPECT_EQ(port.raise_windows().value(), SlotPort(*client_, port_device).raise_windows().value())
        << "on bus 0 there are the windows of the root port";
}

TEST_F(SlotPortTest, NoPortOfASwitchBeforeTheGuestIsUp) {
    pci_.poke(ecam_address(bus, 0, 0x19), 0, 1);
    SlotPort port(*client_, DownstreamPort{port_device, 1});
    const auto none = port.secondary_bus();
    ASSERT_FALSE(none);
    EXPECT_NE(none.error().message.find("switch port 1"), std::string::npos);
    EXPECT_FALSE(port.powered_off());
}

TEST_F(SlotPortTest, NoBusBeforeTheGuestIsUp) {
    pci_.poke(ecam_address(0, port_device, 0x19), 0, 1);
    EXPECT_FALSE(SlotPort(*client_, port_device).secondary_bus());
    EXPECT_FALSE(SlotPort(*client_, port_device + 1).secondary_bus());  // absent: reads ones
}

TEST_F(SlotPortTest, SurpriseIsOnePacketThatEndsWithTheOldValue) {
    ASSERT_TRUE(SlotPort(*client_, port_device).surprise_removal(Restore::yes));
    EXPECT_EQ(last_packet(), "writew 0xb002006c 0x7f1\nwritew 0xb002006c 0x1f1\n");
}

TEST_F(SlotPortTest, NegativeControlLeavesTheSlotOff) {
    SlotPort port(*client_, port_device);
    ASSERT_TRUE(port.surprise_removal(Restore::no));
    EXPECT_EQ(last_packet(), "writew 0xb002006c 0x7f1\n");
    EXPECT_FALSE(port.surprise_removal(Restore::yes)) << "the slot is off already";
}

TEST_F(SlotPortTest, PutAwayOnlyWithPowerAndIndicatorOff) {
    SlotPort port(*client_, port_device);
    uint64_t slot_control = ecam_address(0, port_device, 0x54 + 0x18);
    EXPECT_FALSE(port.powered_off().value());
    pci_.poke(slot_control, 0x05f1, 2);  // power off, indicator still on: pciehp's 1 s pause
    EXPECT_FALSE(port.powered_off().value());
    pci_.poke(slot_control, 0x07f1, 2);
    EXPECT_TRUE(port.powered_off().value());
    pci_.poke(slot_control + 2, 0x0010, 2);
    EXPECT_EQ(port.registers().value(), "Slot Control 0x07f1, Slot Status 0x0010");
}

TEST_F(SlotPortTest, ButtonIsReleasedAndNothingElseCleared) {
    ASSERT_TRUE(SlotPort(*client_, port_device).release_button());
    EXPECT_EQ(last_packet(), "writew 0xb002006e 0x1\n");
    EXPECT_FALSE(SlotPort(*client_, port_device + 1).release_button());
}

TEST_F(SlotPortTest, NotAPort) {
    auto removed = SlotPort(*client_, port_device + 1).surprise_removal(Restore::yes);
    ASSERT_FALSE(removed);
    EXPECT_NE(removed.error().message.find("PCI Express"), std::string::npos);
}

TEST_F(SlotPortTest, CapabilityListWithALoopEnds) {
    pci_.poke(ecam_address(0, port_device, 0x54), 0x4001, 2);
    EXPECT_FALSE(SlotPort(*client_, port_device).surprise_removal(Restore::yes));
}

TEST_F(SlotPortTest, BlackHoleTakesTheBoardsAddressesAndGoesBelow) {
    SlotPort port(*client_, port_device);
    BlackHole hole(*client_, hole_device);
    auto addresses = hole.addresses_of(bus);
    ASSERT_TRUE(addresses) << addresses.error().message;
    EXPECT_FALSE(hole.lies_under(*addresses));
    ASSERT_TRUE(hole.lay_under(*addresses, {&port}));
    EXPECT_EQ(last_packet(),
              "writew 0xb0080004 0x0\n"
              "writel 0xb0080010 0x40000000\n"
              "writel 0xb0080014 0x39\n"
              "writel 0xb0080018 0x80000000\n"
              "writel 0xb008001c 0x39\n"
              "writel 0xb0080020 0x0\n"
              "writel 0xb0080024 0xfe800000\n"
              "writew 0xb0080004 0x2\n"
              "writel 0xb0020020 0xfe20fe00\n");
    EXPECT_TRUE(hole.lies_under(*addresses));
}

TEST_F(SlotPortTest, BlackHoleLeavesIoPortsAlone) {
    SlotPort port(*client_, port_device);
    pci_.poke(ecam_address(bus, 0, 0x20), 0xc001, 4);
    BlackHole hole(*client_, hole_device);
    ASSERT_TRUE(hole.lay_under(hole.addresses_of(bus).value(), {&port}));
    EXPECT_EQ(pci_.peek(ecam_address(0, hole_device, 0x20), 4), 0u);
}

TEST_F(SlotPortTest, BlackHoleRefusesABoardWithoutAddresses) {
    for (unsigned i = 0; i < 6; ++i) {
        pci_.poke(ecam_address(bus, 0, 0x10 + 4 * i), i < 4 && i % 2 == 0 ? 0xc : 0, 4);
    }
    BlackHole hole(*client_, hole_device);
    EXPECT_FALSE(hole.addresses_of(bus));
    EXPECT_FALSE(hole.addresses_of(bus + 1)) << "no device there";
}

}  // namespace
}  // namespace hotplug
