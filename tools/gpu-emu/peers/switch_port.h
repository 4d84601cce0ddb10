// SPDX-License-Identifier: GPL-2.0
// Purpose: the port of a PCIe switch that a GPU is behind: DMA to the BAR0 of another GPU behind
// the switch lands in that one's VRAM. QEMU hands over the guest's memory, but not what other
// devices have on the bus, so the GPUs find each other by links of their own. Stands between the
// transport and the function, and learns the GPU's own address from what the guest writes to it.
// Thread: device loop only. Does not model: BARs but BAR0, the windows of the switch's ports, the
// time on the way; and see peer_links.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "gpu-emu/pci/pci_function.h"
#include "gpu-emu/peers/peer_links.h"

namespace gpuemu {

class SwitchPort : public PciFunction, public PciHost {
public:
    static constexpr unsigned max_nodes = 32;

    /// `config` is asked for the GPU's address: `function` or what is inside it, where no witness
    /// takes the question for the guest's. `directory` is where all that are behind the switch
    /// meet; `node` is this one's number there.
    SwitchPort(PciFunction& function, PciFunction& config, hp::EventLoop& loop,
               std::string directory, unsigned node);

    /// PeerLinks::open().
    void open(const Vram& vram) { links_.open(vram); }
    void set_present(bool present) { links_.presence().set(present); }

    RegionInfo region_info(Region region) const override { return function_.region_info(region); }
    unsigned msi_vectors() const override { return function_.msi_vectors(); }
    void read(Region region, uint64_t offset, std::span<std::byte> out) override {
        function_.read(region, offset, out);
    }
    void write(Region region, uint64_t offset, std::span<const std::byte> in) override;
    void attach(PciHost& host) override;
    void detach() override;
    void reset() override;
    bool asleep() const override { return function_.asleep(); }

    /// The host's memory, or that of who is behind the switch. Where a GPU was that is gone it is
    /// ones, and what is written there is lost.
    std::span<std::byte> dma(uint64_t iova, uint64_t length, DmaAccess access) override;
    bool raise_msi(unsigned vector) override { return host_->raise_msi(vector); }

    const PeerTraffic& traffic() const { return traffic_; }
    std::vector<unsigned> present_peers() const { return links_.present_peers(); }
    PeerStatus status() const {
        return {.node = links_.group().node, .peers = present_peers(), .traffic = traffic_};
    }

private:
    void tell_address();
    const PeerVram* find(uint64_t address, bool present) const;

    PciFunction& function_;
    PciFunction& config_;
    PciHost* host_ = nullptr;
    PeerLinks links_;
    PeerTraffic traffic_;
    NobodysMemory nobody_;
};

}  // namespace gpuemu
