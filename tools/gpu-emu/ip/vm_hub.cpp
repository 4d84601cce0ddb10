// SPDX-License-Identifier: GPL-2.0
// Purpose: the hub registers, as gfxhub_v1_2.c, mmhub_v1_8.c and gmc_v9_0.c use them.
// Thread: device loop only.
// Does not model: see vm_hub.h.
#include "gpu-emu/ip/vm_hub.h"

#include "gpu-emu/ip/regs/gc_9_4_3.h"
#include "gpu-emu/ip/regs/mmhub_1_8_0.h"

namespace gpuemu {
namespace {

using FaultStatus__MORE_FAULTS = mmhub_1_8_0::VM_L2_PROTECTION_FAULT_STATUS__MORE_FAULTS;
using FaultStatus__WALKER_ERROR = mmhub_1_8_0::VM_L2_PROTECTION_FAULT_STATUS__WALKER_ERROR;
using FaultStatus__PERMISSION = mmhub_1_8_0::VM_L2_PROTECTION_FAULT_STATUS__PERMISSION_FAULTS;
using FaultStatus__MAPPING_ERROR = mmhub_1_8_0::VM_L2_PROTECTION_FAULT_STATUS__MAPPING_ERROR;
using FaultStatus__RW = mmhub_1_8_0::VM_L2_PROTECTION_FAULT_STATUS__RW;
using FaultStatus__VMID = mmhub_1_8_0::VM_L2_PROTECTION_FAULT_STATUS__VMID;
using FaultCntl__CLEAR =
    mmhub_1_8_0::VM_L2_PROTECTION_FAULT_CNTL__CLEAR_PROTECTION_FAULT_STATUS_ADDR;

// PERMISSION_FAULTS, one bit per missing permission, and WALKER_ERROR (gmc_v9_0.c prints both).
constexpr uint32_t permission_valid = 1;
constexpr uint32_t permission_write = 4;
constexpr uint32_t walker_error_range = 1;

}  // namespace

VmHubLayout gfx_hub_layout(const Profile& profile) {
    namespace gc = gc_9_4_3;
    return {profile.ip(HwId::GC),
            gc::regMC_VM_FB_LOCATION_BASE,
            gc::regMC_VM_FB_LOCATION_TOP,
            gc::regMC_VM_FB_OFFSET,
            gc::regVM_CONTEXT0_CNTL,
            gc::regVM_CONTEXT0_PAGE_TABLE_BASE_ADDR_LO32,
            gc::regVM_CONTEXT0_PAGE_TABLE_START_ADDR_LO32,
            gc::regVM_INVALIDATE_ENG0_SEM,
            gc::regVM_INVALIDATE_ENG0_REQ,
            gc::regVM_INVALIDATE_ENG0_ACK,
            gc::regVM_L2_PROTECTION_FAULT_CNTL,
            gc::regVM_L2_PROTECTION_FAULT_STATUS,
            gc::regVM_L2_PROTECTION_FAULT_ADDR_LO32};
}

VmHubLayout mm_hub_layout(const Profile& profile) {
    namespace mm = mmhub_1_8_0;
    return {profile.ip(HwId::MMHUB),
            mm::regMC_VM_FB_LOCATION_BASE,
            mm::regMC_VM_FB_LOCATION_TOP,
            mm::regMC_VM_FB_OFFSET,
            mm::regVM_CONTEXT0_CNTL,
            mm::regVM_CONTEXT0_PAGE_TABLE_BASE_ADDR_LO32,
            mm::regVM_CONTEXT0_PAGE_TABLE_START_ADDR_LO32,
            mm::regVM_INVALIDATE_ENG0_SEM,
            mm::regVM_INVALIDATE_ENG0_REQ,
            mm::regVM_INVALIDATE_ENG0_ACK,
            mm::regVM_L2_PROTECTION_FAULT_CNTL,
            mm::regVM_L2_PROTECTION_FAULT_STATUS,
            mm::regVM_L2_PROTECTION_FAULT_ADDR_LO32};
}

VmHubRegisters walk_registers(const VmHubLayout& layout) {
    return {at(layout.ip, layout.MC_VM_FB_LOCATION_BASE), at(layout.ip, layout.VM_CONTEXT0_CNTL),
            at(layout.ip, layout.VM_CONTEXT0_PAGE_TABLE_BASE_ADDR_LO32),
            at(layout.ip, layout.VM_CONTEXT0_PAGE_TABLE_START_ADDR_LO32)};
}

VmHub::VmHub(const Profile& profile, VmHubLayout layout, RegisterFile& registers)
    : profile_(profile), layout_(layout), registers_(registers) {
    // One acknowledge bit per VMID; nothing is cached, so all of them are always there. A semaphore
    // is taken by reading it: there is one driver, so it is always free.
    registers_.on_read(at(layout_.ip, layout_.VM_INVALIDATE_ENG0_ACK), invalidation_engines,
                       [](uint32_t) { return (1u << GpuVm::vmids) - 1; });
    registers_.on_read(at(layout_.ip, layout_.VM_INVALIDATE_ENG0_SEM), invalidation_engines,
                       [](uint32_t) { return 1u; });
    registers_.on_write(at(layout_.ip, layout_.VM_L2_PROTECTION_FAULT_CNTL), 1,
                        [this](uint32_t, uint32_t value) {
                            if (FaultCntl__CLEAR::get(value) != 0) {
                                raw(layout_.VM_L2_PROTECTION_FAULT_STATUS) = 0;
                            }
                        });
}

void VmHub::reset(ResetKind) {
    // What the boot firmware leaves: VRAM at its place in the address space of the memory
    // controller.
    const uint64_t last = profile_.fb_base + profile_.vram_bytes - 1;
    raw(layout_.MC_VM_FB_LOCATION_BASE) = static_cast<uint32_t>(profile_.fb_base >> 24);
    raw(layout_.MC_VM_FB_LOCATION_TOP) = static_cast<uint32_t>(last >> 24);
    raw(layout_.MC_VM_FB_OFFSET) = 0;
    raw(layout_.VM_L2_PROTECTION_FAULT_STATUS) = 0;
    raw(layout_.VM_L2_PROTECTION_FAULT_CNTL) = 0;
}

void VmHub::latch_fault(const VmFault& fault) {
    uint32_t& status = raw(layout_.VM_L2_PROTECTION_FAULT_STATUS);
    if (status != 0) {
        status = FaultStatus__MORE_FAULTS::set(status, 1);
        return;
    }
    switch (fault.reason) {
        case VmFault::Reason::no_context:
        case VmFault::Reason::below_start:
            status = FaultStatus__WALKER_ERROR::set(status, walker_error_range);
            break;
        case VmFault::Reason::not_valid:
            status = FaultStatus__PERMISSION::set(status, permission_valid);
            break;
        case VmFault::Reason::not_writeable:
            status = FaultStatus__PERMISSION::set(status, permission_write);
            break;
        case VmFault::Reason::no_memory: status = FaultStatus__MAPPING_ERROR::set(status, 1); break;
    }
    status = FaultStatus__RW::set(status, fault.write);
    status = FaultStatus__VMID::set(status, fault.vmid);
    const uint64_t page = fault.va >> 12;
    const uint32_t address = at(layout_.ip, layout_.VM_L2_PROTECTION_FAULT_ADDR_LO32);
    registers_.raw(address) = static_cast<uint32_t>(page);
    registers_.raw(address + 1) = static_cast<uint32_t>(page >> 32);
}

}  // namespace gpuemu
