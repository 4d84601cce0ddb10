// SPDX-License-Identifier: GPL-2.0
// Purpose: the GPU: a profile's IP blocks around one register file, one VRAM and one set of
// engines, as a PCI function. Thread: device loop only. Does not model: loss and witness of
// accesses, which LossGate (loss/loss_gate.h) puts around any function.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gpu-emu/device/engine.h"
#include "gpu-emu/device/register_file.h"
#include "gpu-emu/hostile/mutator.h"
#include "gpu-emu/ip/discovery.h"
#include "gpu-emu/ip/interrupt_sink.h"
#include "gpu-emu/ip/ras.h"
#include "gpu-emu/ip/vf_mailbox.h"
#include "gpu-emu/mem/peer_memory.h"
#include "gpu-emu/mem/tlb.h"
#include "gpu-emu/mem/vram.h"
#include "gpu-emu/pci/pci_function.h"
#include "gpu-emu/profiles/profile.h"
#include "lib/event_loop.h"
#include "lib/result.h"

namespace gpuemu {

class Gpu : public PciFunction {
public:
    struct Options {
        bool map_vram = true;  // let the client map BAR0; false: every VRAM access is trapped
                               // (slow, sees everything)
        /// Where the RAS EEPROM is kept between runs; empty: it begins blank at every power-on, as
        /// with no file.
        std::string eeprom_path;
        PeerMemory* peers = nullptr;    // the rest of its hive, for a profile that is in one
        hp::EventLoop* loop = nullptr;  // null: its resets are over at once
        /// How long a mode 1 reset or an FLR takes. A function has to be there 100 ms after an FLR
        /// (PCI Express Base 6.0, 6.6.2). Assumed of mode 1, behind which the driver sleeps 500 ms.
        std::chrono::milliseconds reset_time = default_reset_time;
        Tlb::Use tlb = Tlb::Use::on;
    };
    static constexpr std::chrono::milliseconds default_reset_time{80};

    /// Start-up; throws std::system_error when there is no memory for VRAM, std::invalid_argument
    /// when the seat in the hive is not one, its peers are missing, or they are too many.
    Gpu(const Profile& profile, Options options, EngineKicker& kicker);
    ~Gpu() override;

    RegionInfo region_info(Region region) const override;
    unsigned msi_vectors() const override;
    void read(Region region, uint64_t offset, std::span<std::byte> out) override;
    void write(Region region, uint64_t offset, std::span<const std::byte> in) override;
    void attach(PciHost& host) override;
    void detach() override;
    void reset() override;
    bool asleep() const override;

    const Profile& profile() const;
    RegisterFile& registers();
    const Vram& vram() const;

    /// A hardware error: Ras. One clear error for a GPU whose errors are not modelled.
    hp::Result<void> inject(RasBlock block, RasSeverity severity);

    /// The host of a virtual function tells its guest: VfMailbox::notify(). One clear error for a
    /// GPU that has no host.
    hp::Result<void> notify_guest(HostNotification what);

    /// The device lies from now on: Mutator::start(). Tables among the surfaces are put into VRAM
    /// again. One clear error for a surface that the device does not have.
    hp::Result<void> make_hostile(uint64_t seed, std::span<const Surface> surfaces, uint64_t rate);
    /// Mutator::shift().
    void shift_fences(WriteBack fence, uint32_t more, uint64_t count);
    /// A scripted lie: set_discovery_field() in VRAM, until make_hostile() or a cold reset writes
    /// the table again.
    hp::Result<void> falsify_discovery(DiscoveryField field, uint16_t value);
    /// SmuMailbox::ignore().
    void silence_smu(uint64_t messages);
    /// Psp::ignore().
    void silence_boot_loader(uint64_t commands);
    /// Ih::falsify_wptr().
    void falsify_wptr(uint32_t value);
    /// Honest again: before a cold reset, which puts the tables right.
    void make_honest();
    uint64_t mutations() const;
    Places lied_about(Surface surface) const;
    void set_mutation_witness(Mutator::Witness witness);
    /// Called when the driver has asked for a reset of all of the GPU (mode 1, or a function level
    /// reset), and when all state is gone by it.
    struct ResetWitness {
        std::function<void()> asked;
        std::function<void()> done;
    };
    void set_reset_witness(ResetWitness witness);

    /// Puts the entry into the IH ring and sends the interrupt, as an engine would.
    void interrupt(const InterruptEntry& entry);

    /// From now on VRAM that loses its contents is poison: Vram::lose_contents().
    void poison_vram();

    /// VRAM as seen by whoever mapped it turns to all ones: only pages that were ever touched are
    /// written. What does not get done `at_once` is left to the turns of fill_vram(), and reads as
    /// before until then. Whatever loses the contents ends it, as another board does.
    void turn_vram_to_ones(std::chrono::milliseconds at_once = fill_at_once);
    static constexpr std::chrono::milliseconds fill_at_once{25};
    /// Goes on with that for a moment. False: there is nothing to do.
    bool fill_vram();

    /// Names the register at a BAR5 dword for traces; empty when it has no name here.
    static std::string register_name(const Profile& profile, uint32_t dword);

    std::string describe() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace gpuemu
