// SPDX-License-Identifier: GPL-2.0
// Purpose: what the control socket drives: a device, its gate and its witness.
// Thread: device loop only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "gpu-emu/hostile/mutator.h"
#include "gpu-emu/ip/discovery.h"
#include "gpu-emu/ip/interrupt_sink.h"
#include "gpu-emu/ip/ras.h"
#include "gpu-emu/ip/vf_mailbox.h"
#include "gpu-emu/loss/loss_gate.h"
#include "gpu-emu/peers/peer_links.h"
#include "gpu-emu/witness/access_trace.h"
#include "lib/result.h"

namespace gpuemu {

/// What `status` says of a device beside its gate.
struct DeviceStatus {
    std::size_t unknown_registers = 0;
    std::size_t read_only_writes = 0;  // registers written although they are read-only
    std::string engines;               // lines for people
    uint64_t mutations = 0;
    std::array<Places, surface_count> lied_about{};
    std::optional<PeerStatus> hive;
    std::optional<PeerStatus> pcie_switch;
};

class Controllable {
public:
    virtual ~Controllable() = default;

    virtual LossGate& gate() = 0;
    virtual AccessTrace* trace() = 0;  // null: none is written
    virtual const std::string& profile_name() const = 0;
    /// A black hole: the loss model has nothing to do.
    virtual bool is_black_hole() const = 0;
    /// Of a dword of BAR5; empty where it has none.
    virtual std::string register_name(uint32_t dword) const = 0;
    virtual DeviceStatus device_status() const = 0;

    // Called only while the device is there, and of no black hole. One clear error for what the GPU
    // does not have.
    virtual hp::Result<void> inject(RasBlock block, RasSeverity severity) = 0;
    virtual void interrupt(const InterruptEntry& entry) = 0;
    virtual hp::Result<void> notify_guest(HostNotification what) = 0;
    virtual hp::Result<void> make_hostile(uint64_t seed, std::span<const Surface> surfaces,
                                          uint64_t rate) = 0;
    virtual void shift_fences(WriteBack fence, uint32_t more, uint64_t count) = 0;
    virtual hp::Result<void> falsify_discovery(DiscoveryField field, uint16_t value) = 0;
    virtual void silence_smu(uint64_t messages) = 0;
    virtual void silence_boot_loader(uint64_t commands) = 0;
    virtual void falsify_wptr(uint32_t value) = 0;

    /// Gpu::poison_vram(). One clear error for who has no VRAM.
    virtual hp::Result<void> poison_vram() = 0;
    /// How often `word` is in VRAM, there or not.
    virtual hp::Result<uint64_t> count_in_vram(uint32_t word) = 0;
    /// Ends the loop after this turn: an answer goes out before.
    virtual void shut_down() = 0;
};

}  // namespace gpuemu
