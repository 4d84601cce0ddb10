// SPDX-License-Identifier: GPL-2.0
// Purpose: see switch_port.h. Source of the registers: PCI Local Bus Specification 3.0, 6.2.
#include "gpu-emu/peers/switch_port.h"

#include <array>
#include <cstring>
#include <utility>

namespace gpuemu {
namespace {

constexpr uint64_t reg_command = 0x04;
constexpr uint16_t command_memory = 1u << 1;
constexpr uint64_t reg_bar0 = 0x10;  // 64 bits wide: VRAM's
constexpr uint64_t bar_flags = 0xf;

template <typename T>
T read_config(PciFunction& function, uint64_t offset) {
    std::array<std::byte, sizeof(T)> bytes{};
    function.read(Region::config, offset, bytes);
    T value{};
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

}  // namespace

SwitchPort::SwitchPort(PciFunction& function, PciFunction& config, hp::EventLoop& loop,
                       std::string directory, unsigned node)
    : function_(function),
      config_(config),
      links_(loop, {.directory = std::move(directory),
                    .link = "pcie",
                    .nodes = max_nodes,
                    .node = node,
                    .largest_vram = UINT64_MAX}) {}

void SwitchPort::write(Region region, uint64_t offset, std::span<const std::byte> in) {
    function_.write(region, offset, in);
    if (region == Region::config && offset < reg_bar0 + sizeof(uint64_t)) {
        tell_address();
    }
}

void SwitchPort::attach(PciHost& host) {
    host_ = &host;
    function_.attach(*this);
}

void SwitchPort::detach() {
    function_.detach();
    host_ = nullptr;
}

void SwitchPort::reset() {
    function_.reset();
    tell_address();
}

/// While memory space is disabled, as it is when the address is being changed, the old one stays:
/// who still uses it is to be seen. It also stays when a reset has taken the BAR. QEMU answers the
/// guest's reads of BARs from a copy, which the reset does not reach, so the guest finds the
/// address in place and writes none.
void SwitchPort::tell_address() {
    const auto command = read_config<uint16_t>(config_, reg_command);
    const auto bar0 = read_config<uint64_t>(config_, reg_bar0) & ~bar_flags;
    if ((command & command_memory) != 0 && bar0 != 0) {
        links_.presence().set_bus_address(bar0);
    }
}

const PeerVram* SwitchPort::find(uint64_t address, bool present) const {
    for (unsigned node = 0; node < links_.group().nodes; ++node) {
        const PeerVram* const peer = links_.find(node);
        if (peer != nullptr && peer->present() == present && peer->bus_address() != 0 &&
            address - peer->bus_address() < peer->size()) {
            return peer;
        }
    }
    return nullptr;
}

std::span<std::byte> SwitchPort::dma(uint64_t iova, uint64_t length, DmaAccess access) {
    const std::span<std::byte> memory = host_->dma(iova, length, access);
    if (!memory.empty()) {
        return memory;
    }
    const bool write = access == DmaAccess::write;
    const PeerVram* const there = find(iova, true);
    const PeerVram* const was = there == nullptr ? find(iova, false) : nullptr;
    if (there == nullptr && was == nullptr) {
        return {};
    }
    ++(write ? traffic_.writes : traffic_.reads);
    if (there != nullptr) {
        return there->window(iova - there->bus_address(), length);
    }
    ++traffic_.absent;
    return nobody_.window(iova, length, write);
}

}  // namespace gpuemu
