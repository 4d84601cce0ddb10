// SPDX-License-Identifier: GPL-2.0
// Purpose: a function's way to its host, as far as configuration space has it open: one that is no
// bus master reads and writes no memory and sends no MSI, which is a write to memory, too (PCI
// Local Bus Specification 3.0, 6.2.2 and 6.8). Thread: device loop only.
#pragma once

#include <cstdint>
#include <span>

#include "gpu-emu/pci/config_space.h"
#include "gpu-emu/pci/pci_function.h"

namespace gpuemu {

class BusMaster : public PciHost {
public:
    /// `config` outlives it.
    explicit BusMaster(const ConfigSpace& config) : config_(config) {}

    /// Null: there is none.
    void set_host(PciHost* host) { host_ = host; }

    std::span<std::byte> dma(uint64_t iova, uint64_t length, DmaAccess access) override {
        return is_open() ? host_->dma(iova, length, access) : std::span<std::byte>();
    }
    bool raise_msi(unsigned vector) override { return is_open() && host_->raise_msi(vector); }

private:
    bool is_open() const { return host_ != nullptr && config_.bus_master(); }

    const ConfigSpace& config_;
    PciHost* host_ = nullptr;
};

}  // namespace gpuemu
