// SPDX-License-Identifier: GPL-2.0
// Purpose: see slot_port.h.
// Thread: see slot_port.h.
#include "hotplug/machine/slot_port.h"

#include <fmt/format.h>

namespace hotplug {

namespace {

// Type 1 header.
constexpr unsigned reg_secondary_bus = 0x19;
constexpr unsigned reg_memory_base = 0x20;  // with Memory Limit in the upper half
constexpr unsigned reg_capabilities = 0x34;

constexpr uint8_t capability_pci_express = 0x10;
constexpr unsigned reg_slot_control = 0x18;  // in the PCI Express capability
constexpr unsigned reg_slot_status = 0x1a;
constexpr uint16_t button_pressed = 1u << 0;  // of Slot Status; written as 1 it is cleared
constexpr uint16_t power_indicator_off = 3u << 8;
constexpr uint16_t power_controller_off = 1u << 10;
constexpr uint16_t all_off = power_indicator_off | power_controller_off;

// The list has at most one entry per 4 bytes behind the header.
constexpr unsigned max_capabilities = 48;

}  // namespace

std::string SlotPort::name() const {
    return root_port_ ? fmt::format("switch port {}", device_)
                      : fmt::format("00:{:02x}.{}", device_, function_);
}

/// The bus behind the bridge at `bridge`.
hp::Result<uint8_t> SlotPort::bus_behind(uint64_t bridge) {
    auto value = qtest_->execute({QtestClient::read8(bridge + reg_secondary_bus)});
    if (!value) {
        return tl::unexpected(value.error());
    }
    auto bus = static_cast<uint8_t>(value->front());
    if (bus == 0 || bus == 0xff) {
        return hp::fail(fmt::format("the port {} has no bus number: is the guest up?", name()));
    }
    return bus;
}

hp::Result<unsigned> SlotPort::bus() {
    if (!root_port_) {
        return 0;
    }
    // The switch's upstream port is the only device behind the root port.
    return bus_behind(ecam_address(0, *root_port_, 0)).and_then([this](uint8_t upstream) {
        return bus_behind(ecam_address(upstream, 0, 0)).map([](uint8_t bus) {
            return unsigned{bus};
        });
    });
}

hp::Result<uint64_t> SlotPort::address(unsigned offset) {
    return bus().map(
        [this, offset](unsigned bus) { return ecam_address(bus, device_, offset, function_); });
}

hp::Result<std::string> SlotPort::bdf() {
    return bus().map([this](unsigned bus) {
        return fmt::format("0000:{:02x}:{:02x}.{}", bus, device_, function_);
    });
}

hp::Result<uint8_t> SlotPort::secondary_bus() {
    return address(0).and_then([this](uint64_t bridge) { return bus_behind(bridge); });
}

hp::Result<unsigned> SlotPort::pcie_capability() {
    if (pcie_capability_) {
        return *pcie_capability_;
    }
    auto port = address(0);
    if (!port) {
        return tl::unexpected(port.error());
    }
    unsigned pointer_at = reg_capabilities;
    for (unsigned i = 0; i < max_capabilities; ++i) {
        auto pointer = qtest_->execute({QtestClient::read8(*port + pointer_at)});
        if (!pointer) {
            return tl::unexpected(pointer.error());
        }
        auto offset = static_cast<unsigned>(pointer->front() & 0xfc);
        if (offset == 0 || offset == 0xfc) {
            break;
        }
        auto id = qtest_->execute({QtestClient::read8(*port + offset)});
        if (!id) {
            return tl::unexpected(id.error());
        }
        if (id->front() == capability_pci_express) {
            pcie_capability_ = offset;
            return offset;
        }
        pointer_at = offset + 1;
    }
    return hp::fail(fmt::format("{} has no PCI Express capability: not a port", name()));
}

hp::Result<uint64_t> SlotPort::slot_register(unsigned offset) {
    return pcie_capability().and_then(
        [this, offset](unsigned capability) { return address(capability + offset); });
}

hp::Result<uint16_t> SlotPort::slot_control() {
    auto address = slot_register(reg_slot_control);
    if (!address) {
        return tl::unexpected(address.error());
    }
    return qtest_->execute({QtestClient::read16(*address)}).map([](const auto& values) {
        return static_cast<uint16_t>(values.front());
    });
}

hp::Result<bool> SlotPort::powered_off() {
    return slot_control().map([](uint16_t control) { return (control & all_off) == all_off; });
}

hp::Result<std::string> SlotPort::registers() {
    auto control = slot_register(reg_slot_control);
    auto status = slot_register(reg_slot_status);
    if (!control || !status) {
        return tl::unexpected(control ? status.error() : control.error());
    }
    return qtest_->execute({QtestClient::read16(*control), QtestClient::read16(*status)})
        .map([](const auto& values) {
            return fmt::format("Slot Control {:#06x}, Slot Status {:#06x}", values[0], values[1]);
        });
}

hp::Result<void> SlotPort::surprise_removal(Restore restore) {
    auto address = slot_register(reg_slot_control);
    auto on = slot_control();
    if (!address || !on) {
        return tl::unexpected(address ? on.error() : address.error());
    }
    if (*on & power_controller_off) {
        return hp::fail(fmt::format("the slot of {} is powered off already", name()));
    }
    std::vector<std::string> commands{
        QtestClient::write16(*address, static_cast<uint16_t>(*on | all_off))};
    if (restore == Restore::yes) {
        commands.push_back(QtestClient::write16(*address, *on));
    }
    auto done = qtest_->execute(commands);
    if (!done) {
        return tl::unexpected(done.error());
    }
    return {};
}

hp::Result<void> SlotPort::release_button() {
    auto address = slot_register(reg_slot_status);
    if (!address) {
        return tl::unexpected(address.error());
    }
    auto done = qtest_->execute({QtestClient::write16(*address, button_pressed)});
    if (!done) {
        return tl::unexpected(done.error());
    }
    return {};
}

hp::Result<std::string> SlotPort::raise_windows() {
    const uint64_t base = ecam_address(0, root_port_.value_or(device_), reg_memory_base, function_);
    auto window = qtest_->execute({QtestClient::read32(base)});
    if (!window) {
        return tl::unexpected(window.error());
    }
    return QtestClient::write32(base, static_cast<uint32_t>(window->front()));
}

}  // namespace hotplug
