// SPDX-License-Identifier: GPL-2.0
// Purpose: the registers around one VM hub: frame buffer location, TLB invalidation engines, fault
// status; and the interrupt of a fault. The walk itself is GpuVm's (mem/gpu_vm.h).
// Thread: device loop only.
// Does not model: the time that an invalidation takes, retry faults, and which of the hub's clients
// it was: all of GC's are the command processor, of MMHUB's it is not said.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "gpu-emu/device/register_file.h"
#include "gpu-emu/ip/interrupt_sink.h"
#include "gpu-emu/ip/ip_block.h"
#include "gpu-emu/ip/regs/registers.h"
#include "gpu-emu/mem/gpu_vm.h"
#include "gpu-emu/mem/tlb.h"
#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

/// Where the hub of an IP keeps its registers, and how its faults look.
struct VmHubLayout {
    const IpInstance& ip;
    uint8_t ih_client, ih_node, vmid_src;  // of its interrupts
    Reg IH_VMID_0_LUT;                     // in OSSSYS
    uint32_t fault_client;                 // VM_L2_PROTECTION_FAULT_STATUS.CID
    Reg MC_VM_FB_LOCATION_BASE, MC_VM_FB_LOCATION_TOP, MC_VM_FB_OFFSET;
    Reg VM_CONTEXT0_CNTL;
    Reg VM_CONTEXT0_PAGE_TABLE_BASE_ADDR_LO32, VM_CONTEXT0_PAGE_TABLE_START_ADDR_LO32;
    Reg VM_INVALIDATE_ENG0_SEM, VM_INVALIDATE_ENG0_REQ, VM_INVALIDATE_ENG0_ACK;
    Reg VM_L2_PROTECTION_FAULT_CNTL, VM_L2_PROTECTION_FAULT_STATUS;
    Reg VM_L2_PROTECTION_FAULT_ADDR_LO32;
    Reg VM_L2_CNTL2;
    uint32_t invalidate_l2_ptes, invalidate_l1_ptes;  // bits of VM_INVALIDATE_ENG0_REQ

    /// What an invalidation engine is asked for to have nothing left of these VMIDs.
    uint32_t invalidation_of(uint32_t vmids) const {
        return vmids | invalidate_l2_ptes | invalidate_l1_ptes;
    }
};

VmHubLayout gfx_hub_layout(const Profile& profile, unsigned xcc = 0);  // GC 9.4.3 and 10.3.0
VmHubLayout mm_hub_layout(const Profile& profile, unsigned aid = 0);   // MMHUB 1.8.0 and 2.x

/// What the walk needs of a layout.
VmHubRegisters walk_registers(const VmHubLayout& layout);

class VmHub : public IpBlock {
public:
    /// A queue whose ring or whose semaphore is out of reach asks again at every turn, and several
    /// may do so in turns: the same page is the same fault for so long, in ticks of the 100 MHz
    /// clock.
    static constexpr uint64_t repeat_ticks = 10'000'000;
    /// Faults remembered, and so raised in each such time: of more there is MORE_FAULTS only.
    static constexpr std::size_t recent_faults = 64;

    static constexpr uint32_t invalidation_engines = 18;

    struct Context {
        const Profile& profile;
        RegisterFile& registers;
        InterruptSink& interrupts;
        std::function<uint64_t()> gpu_clock;
    };

    /// `tlb` outlives it.
    VmHub(Context context, VmHubLayout layout, Tlb& tlb);

    void reset(ResetKind kind) override;

    /// Status and address registers take the first fault since the driver last cleared them, later
    /// ones set MORE_FAULTS. Every fault but a repeated one raises an interrupt, if the driver
    /// enabled that for its VMID.
    void report(const VmFault& fault);

private:
    void claim_invalidation();
    struct Recent {
        VmFault fault;
        uint64_t time;
    };

    void latch(const VmFault& fault);
    bool is_repeated(const VmFault& fault);
    uint16_t pasid(unsigned vmid);
    bool wants_interrupt(const VmFault& fault);
    void raise(const VmFault& fault);
    uint32_t& raw(Reg reg) { return context_.registers.raw(at(layout_.ip, reg)); }

    Context context_;
    VmHubLayout layout_;
    Tlb& tlb_;
    std::array<std::optional<Recent>, recent_faults> recent_;
    std::size_t oldest_ = 0;  // of recent_, a ring
    /// Opposite::late_acknowledge: what engine n acknowledges at the next look but one.
    std::array<std::optional<uint32_t>, invalidation_engines> late_;
};

}  // namespace gpuemu
