// SPDX-License-Identifier: GPL-2.0
// Purpose: a PCI function with the BARs of a GPU and nothing behind them: reads are ones, writes
// are lost. Laid under a GPU in the guest's address space it answers, as the bus should, once the
// GPU is gone; the LossGate around it is the witness of who still asked. Its config space works, so
// that the machine can place its BARs. Thread: device loop only.
#pragma once

#include "gpu-emu/pci/config_space.h"
#include "gpu-emu/pci/pci_function.h"
#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

class BlackHole : public PciFunction {
public:
    static constexpr uint16_t vendor_id = 0x1b36;  // Red Hat: QEMU's own devices
    static constexpr uint16_t device_id = 0xbbbb;
    static constexpr uint32_t class_code = 0xff0000;  // no class: no driver wants it

    explicit BlackHole(const Profile& profile);

    RegionInfo region_info(Region region) const override;
    unsigned msi_vectors() const override { return 1; }  // its config space has the capability
    void read(Region region, uint64_t offset, std::span<std::byte> out) override;
    void write(Region region, uint64_t offset, std::span<const std::byte> in) override;
    void attach(PciHost&) override { config_.reset(); }
    void detach() override {}
    void reset() override { config_.reset(); }
    bool asleep() const override { return config_.in_d3hot(); }

private:
    uint64_t vram_bytes_;
    uint64_t doorbell_bytes_;
    uint64_t register_bytes_;
    ConfigSpace config_;
};

}  // namespace gpuemu
