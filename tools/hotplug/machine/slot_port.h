// SPDX-License-Identifier: GPL-2.0
// Purpose: a port with a hot-plug slot, the root's or a switch's, handled from outside the guest
// through ECAM: where its bus is, its windows, and the pair of Slot Control writes that takes the
// board out without a word to the guest. Thread: one at a time. Sources: PCI Express Base
// Specification 5.0, 7.5.1.3 (type 1 header), 7.5.3 (PCI Express capability).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hotplug/machine/qtest_client.h"
#include "lib/result.h"

namespace hotplug {

/// Where q35 with SeaBIOS has its ECAM window.
inline constexpr uint64_t ecam_base = 0xb0000000;

/// Physical address of a register in the configuration space of bus:device.function.
constexpr uint64_t ecam_address(unsigned bus, unsigned device, unsigned offset,
                                unsigned function = 0) {
    return ecam_base + (uint64_t{bus} << 20) + (uint64_t{device} << 15) +
           (uint64_t{function} << 12) + offset;
}

enum class Restore { yes, no };

/// A port of the switch that is behind the root port 00:`root_port`.0.
struct DownstreamPort {
    unsigned root_port;
    unsigned device;
};

class SlotPort {
public:
    /// The port is 00:`device`.`function`.
    SlotPort(QtestClient& qtest, unsigned device, unsigned function = 0)
        : qtest_(&qtest), device_(device), function_(function) {}
    SlotPort(QtestClient& qtest, DownstreamPort port)
        : qtest_(&qtest), device_(port.device), function_(0), root_port_(port.root_port) {}

    /// "0000:00:04.0": what the kernel log calls the port.
    hp::Result<std::string> bdf();
    /// The bus behind the port, as firmware or kernel numbered it.
    hp::Result<uint8_t> secondary_bus();

    /// Takes the board out by surprise: Slot Control says "power off, indicator off", and in the
    /// same packet its old value again. QEMU unplugs at the first write; no vCPU sees it, so that
    /// the guest finds the power still on and takes the card for pulled. Without the restore pciehp
    /// believes the slot was disabled before.
    hp::Result<void> surprise_removal(Restore restore);

    /// Slot Control says "power off, indicator off": the guest's hot-plug driver has put the slot
    /// away. A board plugged before that would be unplugged by the driver's last write.
    hp::Result<bool> powered_off();

    /// "Slot Control 0x05f1, Slot Status 0x0010", for who has to be told why it is not.
    hp::Result<std::string> registers();

    /// Takes back "attention button pressed" where the guest has not read it yet; what else Slot
    /// Status reports stays.
    hp::Result<void> release_button();

    /// A command that writes the memory window's own value: QEMU then puts all windows of the port
    /// on top of what overlaps them on bus 0, where the windows of a switch are its root port's.
    hp::Result<std::string> raise_windows();

private:
    /// The bus that the port itself is on.
    hp::Result<unsigned> bus();
    hp::Result<uint64_t> address(unsigned offset);
    hp::Result<uint8_t> bus_behind(uint64_t bridge);
    /// "00:04.1", or "switch port 1"
    std::string name() const;
    hp::Result<unsigned> pcie_capability();
    hp::Result<uint64_t> slot_register(unsigned offset);
    hp::Result<uint16_t> slot_control();

    QtestClient* qtest_;
    unsigned device_;
    unsigned function_;
    std::optional<unsigned> root_port_;  // of the switch that the port belongs to
    std::optional<unsigned> pcie_capability_;
};

}  // namespace hotplug
