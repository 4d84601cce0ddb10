// SPDX-License-Identifier: GPL-2.0
// Purpose: see black_hole.h.
// Thread: see black_hole.h.
#include "hotplug/machine/black_hole.h"

#include <fmt/format.h>

namespace hotplug {

namespace {

// Type 0 header (PCI Local Bus Specification 3.0, 6.2).
constexpr unsigned reg_command = 0x04;
constexpr uint16_t command_memory = 1u << 1;
constexpr unsigned reg_bar0 = 0x10;

constexpr uint32_t bar_is_io = 1u << 0;
constexpr uint32_t bar_type = 3u << 1;
constexpr uint32_t bar_is_64bit = 2u << 1;
constexpr uint32_t bar_flags = 0xf;

constexpr unsigned bar_offset(size_t index) {
    return reg_bar0 + 4 * static_cast<unsigned>(index);
}

// What to write into the hole's registers: memory addresses without their flags, nothing for I/O
// ports.
BaseAddresses memory_addresses(const BaseAddresses& addresses) {
    BaseAddresses memory{};
    for (size_t i = 0; i < addresses.size(); ++i) {
        if (addresses[i] & bar_is_io) {
            continue;
        }
        memory[i] = addresses[i] & ~bar_flags;
        bool wide = (addresses[i] & bar_type) == bar_is_64bit;
        if (wide && i + 1 < addresses.size()) {
            memory[i + 1] = addresses[i + 1];  // upper half: all bits are address
            ++i;
        }
    }
    return memory;
}

}  // namespace

hp::Result<BaseAddresses> BlackHole::addresses_of(unsigned bus) {
    BaseAddresses addresses{};
    std::vector<std::string> reads;
    for (size_t i = 0; i < addresses.size(); ++i) {
        reads.push_back(QtestClient::read32(ecam_address(bus, 0, bar_offset(i))));
    }
    auto values = qtest_->execute(reads);
    if (!values) {
        return tl::unexpected(values.error());
    }
    for (size_t i = 0; i < addresses.size(); ++i) {
        addresses[i] = static_cast<uint32_t>((*values)[i]);
    }
    if (addresses[0] == UINT32_MAX) {
        return hp::fail(fmt::format("no device at {:02x}:00.0", bus));
    }
    if (memory_addresses(addresses) == BaseAddresses{}) {
        return hp::fail(fmt::format("the guest gave {:02x}:00.0 no addresses", bus));
    }
    return addresses;
}

hp::Result<void> BlackHole::lay_under(const BaseAddresses& addresses,
                                      const std::vector<SlotPort*>& ports) {
    uint64_t command = ecam_address(0, device_, reg_command, function_);
    std::vector<std::string> commands{QtestClient::write16(command, 0)};
    BaseAddresses memory = memory_addresses(addresses);
    for (size_t i = 0; i < memory.size(); ++i) {
        commands.push_back(
            QtestClient::write32(ecam_address(0, device_, bar_offset(i), function_), memory[i]));
    }
    commands.push_back(QtestClient::write16(command, command_memory));
    for (SlotPort* port : ports) {
        auto raise = port->raise_windows();
        if (!raise) {
            return tl::unexpected(raise.error());
        }
        commands.push_back(*raise);
    }
    if (auto done = qtest_->execute(commands); !done) {
        return tl::unexpected(done.error());
    }
    lies_under_ = addresses;
    return {};
}

}  // namespace hotplug
