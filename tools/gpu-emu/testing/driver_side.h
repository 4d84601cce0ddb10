// SPDX-License-Identifier: GPL-2.0
// Purpose: what a driver does with a function in a test: reads and writes of its regions.
// Thread: the test's.
#pragma once

#include <cstdint>
#include <span>

#include "gpu-emu/pci/pci_function.h"

namespace gpuemu::test {

class DriverSide {
public:
    virtual ~DriverSide() = default;

    template <typename T = uint32_t>
    T get(Region region, uint64_t offset) {
        T value{};
        function().read(region, offset, std::as_writable_bytes(std::span(&value, 1)));
        return value;
    }
    template <typename T>
    void put(Region region, uint64_t offset, T value) {
        function().write(region, offset, std::as_bytes(std::span(&value, 1)));
    }
    uint32_t reg(uint32_t dword) { return get(Region::bar5, uint64_t{dword} * 4); }
    void set(uint32_t dword, uint32_t value) { put(Region::bar5, uint64_t{dword} * 4, value); }

    /// As pci_enable_device() and pci_set_master() do it.
    void enable() { put<uint16_t>(Region::config, command, memory_space | bus_master); }

    static constexpr uint64_t command = 4;
    static constexpr uint16_t memory_space = 2, bus_master = 4;

protected:
    virtual PciFunction& function() = 0;
};

}  // namespace gpuemu::test
