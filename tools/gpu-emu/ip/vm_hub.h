// SPDX-License-Identifier: GPL-2.0
// Purpose: the registers around one VM hub: frame buffer location, TLB invalidation engines, fault
// status. The walk itself is GpuVm's (mem/gpu_vm.h).
// Thread: device loop only.
// Does not model: TLBs (an invalidation is done when asked for) and the fault interrupt: a fault
// is readable here and logged.
#pragma once

#include <cstdint>

#include "gpu-emu/core/register_file.h"
#include "gpu-emu/ip/ip_block.h"
#include "gpu-emu/ip/registers.h"
#include "gpu-emu/mem/gpu_vm.h"
#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

/// Where the hub of an IP keeps its registers.
struct VmHubLayout {
    const IpInstance& ip;
    Reg MC_VM_FB_LOCATION_BASE, MC_VM_FB_LOCATION_TOP, MC_VM_FB_OFFSET;
    Reg VM_CONTEXT0_CNTL;
    Reg VM_CONTEXT0_PAGE_TABLE_BASE_ADDR_LO32, VM_CONTEXT0_PAGE_TABLE_START_ADDR_LO32;
    Reg VM_INVALIDATE_ENG0_SEM, VM_INVALIDATE_ENG0_REQ, VM_INVALIDATE_ENG0_ACK;
    Reg VM_L2_PROTECTION_FAULT_CNTL, VM_L2_PROTECTION_FAULT_STATUS;
    Reg VM_L2_PROTECTION_FAULT_ADDR_LO32;
};

VmHubLayout gfx_hub_layout(const Profile& profile);  // GC 9.4.3
VmHubLayout mm_hub_layout(const Profile& profile);   // MMHUB 1.8.0

/// What the walk needs of a layout.
VmHubRegisters walk_registers(const VmHubLayout& layout);

class VmHub : public IpBlock {
public:
    VmHub(const Profile& profile, VmHubLayout layout, RegisterFile& registers);

    void reset(ResetKind kind) override;

    /// Latches the first fault since the driver last cleared the status; later ones set
    /// MORE_FAULTS.
    void latch_fault(const VmFault& fault);

private:
    static constexpr uint32_t invalidation_engines = 18;

    uint32_t& raw(Reg reg) { return registers_.raw(at(layout_.ip, reg)); }

    const Profile& profile_;
    VmHubLayout layout_;
    RegisterFile& registers_;
};

}  // namespace gpuemu
