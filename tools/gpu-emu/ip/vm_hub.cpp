// SPDX-License-Identifier: GPL-2.0
// Purpose: the hub registers, as gfxhub_v1_2.c, mmhub_v1_8.c and gmc_v9_0.c use them, and
// gfxhub_v2_1.c, mmhub_v2_0.c and gmc_v10_0.c.
// Thread: device loop only.
#include "gpu-emu/ip/vm_hub.h"

#include <algorithm>
#include <utility>

#include "gpu-emu/ip/gc_layout.h"
#include "gpu-emu/ip/pasid_luts.h"
#include "gpu-emu/ip/regs/gc_10_3_0.h"
#include "gpu-emu/ip/regs/gc_9_4_3.h"
#include "gpu-emu/ip/regs/mmhub_1_8_0.h"
#include "gpu-emu/ip/regs/mmhub_2_0_0.h"
#include "gpu-emu/ip/regs/osssys_4_4_2.h"

namespace gpuemu {
namespace {

namespace hub = mmhub_1_8_0;  // its fields stand for those of all hubs

// soc15_ih_clientid.h, irqsrcs_vmc_1_0.h (VMC_1_0__SRCID__VM_FAULT, UTCL2_1_0__SRCID__FAULT).
constexpr uint8_t SOC15_IH_CLIENTID_VMC = 0x12;
constexpr uint8_t SOC15_IH_CLIENTID_UTCL2 = 0x1b;
constexpr uint8_t source_fault = 0;

constexpr uint32_t fault_client_cpc = 5;  // gfxhub_client_ids[] of gmc_v9_0.c and gfxhub_v2_1.c
constexpr uint32_t fault_client_unsaid = 0;

// PERMISSION_FAULTS, one bit per missing permission, and WALKER_ERROR (gmc_v9_0.c prints both).
constexpr uint32_t permission_valid = 1;
constexpr uint32_t permission_write = 4;
constexpr uint32_t walker_error_range = 1;

// Second data word of the interrupt, above bits 47 to 44 of the address (amdgpu_gmc.h).
constexpr uint32_t AMDGPU_GMC9_FAULT_SOURCE_DATA_READ = 0x40;
constexpr uint32_t AMDGPU_GMC9_FAULT_SOURCE_DATA_WRITE = 0x20;

// RING_ID says which permission was missing, as event_interrupt_wq_v9() of amdkfd reads it.
constexpr uint8_t ring_id_valid = 0x08;
constexpr uint8_t ring_id_write = 0x20;

constexpr unsigned page_shift = 12;

}  // namespace

VmHubLayout gfx_hub_layout(const Profile& profile, unsigned xcc) {
    const IpInstance& ip = *profile.working(HwId::GC).at(xcc);
    if (ip.major == 10) {
        namespace gc = gc_10_3_0;
        return {ip,
                SOC15_IH_CLIENTID_UTCL2,
                no_node,
                0,
                osssys_4_4_2::regIH_VMID_0_LUT,
                fault_client_cpc,
                gc::mmGCMC_VM_FB_LOCATION_BASE,
                gc::mmGCMC_VM_FB_LOCATION_TOP,
                gc::mmGCMC_VM_FB_OFFSET,
                gc::mmGCVM_CONTEXT0_CNTL,
                gc::mmGCVM_CONTEXT0_PAGE_TABLE_BASE_ADDR_LO32,
                gc::mmGCVM_CONTEXT0_PAGE_TABLE_START_ADDR_LO32,
                gc::mmGCVM_INVALIDATE_ENG0_SEM,
                gc::mmGCVM_INVALIDATE_ENG0_REQ,
                gc::mmGCVM_INVALIDATE_ENG0_ACK,
                gc::mmGCVM_L2_PROTECTION_FAULT_CNTL,
                gc::mmGCVM_L2_PROTECTION_FAULT_STATUS,
                gc::mmGCVM_L2_PROTECTION_FAULT_ADDR_LO32,
                gc::mmGCVM_L2_CNTL2,
                mmhub_2_0_0::MMVM_INVALIDATE_ENG0_REQ__INVALIDATE_L2_PTES,
                mmhub_2_0_0::MMVM_INVALIDATE_ENG0_REQ__INVALIDATE_L1_PTES};
    }
    namespace gc = gc_9_4_3;
    return {ip,
            SOC15_IH_CLIENTID_UTCL2,
            ih_node_of_xcc(ip.instance),
            0,
            osssys_4_4_2::regIH_VMID_0_LUT,
            fault_client_cpc,
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
            gc::regVM_L2_PROTECTION_FAULT_ADDR_LO32,
            gc::regVM_L2_CNTL2,
            hub::VM_INVALIDATE_ENG0_REQ__INVALIDATE_L2_PTES,
            hub::VM_INVALIDATE_ENG0_REQ__INVALIDATE_L1_PTES};
}

VmHubLayout mm_hub_layout(const Profile& profile, unsigned aid) {
    const IpInstance& ip = profile.ip(HwId::MMHUB, aid);
    if (ip.major == 2) {
        namespace mm = mmhub_2_0_0;
        return {ip,
                SOC15_IH_CLIENTID_VMC,
                no_node,
                1,
                osssys_4_4_2::regIH_VMID_0_LUT_MM,
                fault_client_unsaid,
                mm::mmMMMC_VM_FB_LOCATION_BASE,
                mm::mmMMMC_VM_FB_LOCATION_TOP,
                mm::mmMMMC_VM_FB_OFFSET,
                mm::mmMMVM_CONTEXT0_CNTL,
                mm::mmMMVM_CONTEXT0_PAGE_TABLE_BASE_ADDR_LO32,
                mm::mmMMVM_CONTEXT0_PAGE_TABLE_START_ADDR_LO32,
                mm::mmMMVM_INVALIDATE_ENG0_SEM,
                mm::mmMMVM_INVALIDATE_ENG0_REQ,
                mm::mmMMVM_INVALIDATE_ENG0_ACK,
                mm::mmMMVM_L2_PROTECTION_FAULT_CNTL,
                mm::mmMMVM_L2_PROTECTION_FAULT_STATUS,
                mm::mmMMVM_L2_PROTECTION_FAULT_ADDR_LO32,
                mm::mmMMVM_L2_CNTL2,
                mm::MMVM_INVALIDATE_ENG0_REQ__INVALIDATE_L2_PTES,
                mm::MMVM_INVALIDATE_ENG0_REQ__INVALIDATE_L1_PTES};
    }
    namespace mm = mmhub_1_8_0;
    return {ip,
            SOC15_IH_CLIENTID_VMC,
            ih_node_of_aid(aid),
            1,
            osssys_4_4_2::regIH_VMID_0_LUT_MM,
            fault_client_unsaid,
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
            mm::regVM_L2_PROTECTION_FAULT_ADDR_LO32,
            mm::regVM_L2_CNTL2,
            hub::VM_INVALIDATE_ENG0_REQ__INVALIDATE_L2_PTES,
            hub::VM_INVALIDATE_ENG0_REQ__INVALIDATE_L1_PTES};
}

VmHubRegisters walk_registers(const VmHubLayout& layout) {
    return {at(layout.ip, layout.MC_VM_FB_LOCATION_BASE), at(layout.ip, layout.VM_CONTEXT0_CNTL),
            at(layout.ip, layout.VM_CONTEXT0_PAGE_TABLE_BASE_ADDR_LO32),
            at(layout.ip, layout.VM_CONTEXT0_PAGE_TABLE_START_ADDR_LO32)};
}

VmHub::VmHub(Context context, VmHubLayout layout, Tlb& tlb)
    : context_(std::move(context)), layout_(layout), tlb_(tlb) {
    claim_invalidation();
    RegisterFile& registers = context_.registers;
    // A semaphore is taken by reading it: there is one driver, so it is always free.
    registers.declare(at(layout_.ip, layout_.VM_INVALIDATE_ENG0_SEM), invalidation_engines,
                      {.read = [](uint32_t) { return 1u; }});
    registers.declare(
        at(layout_.ip, layout_.VM_L2_PROTECTION_FAULT_CNTL), 1,
        {.written = [this](uint32_t, uint32_t value) {
            if (hub::VM_L2_PROTECTION_FAULT_CNTL__CLEAR_PROTECTION_FAULT_STATUS_ADDR::get(value)) {
                raw(layout_.VM_L2_PROTECTION_FAULT_STATUS) = 0;
            }
        }});
    registers.declare(at(layout_.ip, layout_.VM_L2_PROTECTION_FAULT_STATUS), 1,
                      {.type = read_only});
    registers.declare(at(layout_.ip, layout_.VM_L2_PROTECTION_FAULT_ADDR_LO32), 2,
                      {.type = read_only});
}

/// Done as soon as it is asked for. Each engine has an acknowledge bit for each VMID, of what it
/// was asked for last (assumed).
void VmHub::claim_invalidation() {
    RegisterFile& registers = context_.registers;
    const uint32_t request = at(layout_.ip, layout_.VM_INVALIDATE_ENG0_REQ);
    const uint32_t acknowledge = at(layout_.ip, layout_.VM_INVALIDATE_ENG0_ACK);
    registers.declare(
        request, invalidation_engines,
        {.written = [this, request, acknowledge](uint32_t dword, uint32_t value) {
            const uint32_t vmids = hub::VM_INVALIDATE_ENG0_REQ__PER_VMID_INVALIDATE_REQ::get(value);
            // One level without the other: what it has lost comes back from there.
            const uint32_t levels = layout_.invalidate_l2_ptes | layout_.invalidate_l1_ptes;
            if ((value & levels) == levels) {
                tlb_.invalidate(static_cast<uint16_t>(vmids));
            }
            const uint32_t engine = dword - request;
            const uint32_t done =
                hub::VM_INVALIDATE_ENG0_ACK__PER_VMID_INVALIDATE_ACK::set(0, vmids);
            const bool late = context_.profile.opposites.has(Opposite::late_acknowledge);
            context_.registers.raw(acknowledge + engine) = late ? 0 : done;
            late_[engine] = late ? std::optional(done) : std::nullopt;
        }});
    Register acknowledges{.type = read_only};
    if (context_.profile.opposites.has(Opposite::late_acknowledge)) {
        acknowledges.read = [this, acknowledge](uint32_t dword) {
            uint32_t& shown = context_.registers.raw(dword);
            const auto late = std::exchange(late_[dword - acknowledge], std::nullopt);
            return late ? std::exchange(shown, *late) : shown;
        };
    }
    registers.declare(acknowledge, invalidation_engines, std::move(acknowledges));
    using L1 = hub::VM_L2_CNTL2__INVALIDATE_ALL_L1_TLBS;
    using L2 = hub::VM_L2_CNTL2__INVALIDATE_L2_CACHE;
    registers.declare(at(layout_.ip, layout_.VM_L2_CNTL2), 1,
                      {.type = with_self_clearing(L1::mask | L2::mask),
                       .written = [this](uint32_t, uint32_t value) {
                           if (L1::get(value) != 0 && L2::get(value) != 0) {
                               tlb_.invalidate(Tlb::all_vmids);
                           }
                       }});
}

void VmHub::reset(ResetKind) {
    for (uint32_t engine = 0; engine < invalidation_engines; ++engine) {
        context_.registers.raw(at(layout_.ip, layout_.VM_INVALIDATE_ENG0_ACK) + engine) = 0;
    }
    raw(layout_.VM_L2_CNTL2) = 0;
    // What the boot firmware leaves: VRAM at its place in the address space of the memory
    // controller.
    const Profile& profile = context_.profile;
    const uint64_t last = profile.fb_base + profile.vram_bytes - 1;
    raw(layout_.MC_VM_FB_LOCATION_BASE) = static_cast<uint32_t>(profile.fb_base >> 24);
    raw(layout_.MC_VM_FB_LOCATION_TOP) = static_cast<uint32_t>(last >> 24);
    raw(layout_.MC_VM_FB_OFFSET) = 0;
    raw(layout_.VM_L2_PROTECTION_FAULT_STATUS) = 0;
    raw(layout_.VM_L2_PROTECTION_FAULT_CNTL) = 0;
    recent_.fill(std::nullopt);
    late_.fill(std::nullopt);
    oldest_ = 0;
}

void VmHub::report(const VmFault& fault) {
    latch(fault);
    if (wants_interrupt(fault) && !is_repeated(fault)) {
        raise(fault);
    }
}

void VmHub::latch(const VmFault& fault) {
    uint32_t& status = raw(layout_.VM_L2_PROTECTION_FAULT_STATUS);
    if (status != 0) {
        status = hub::VM_L2_PROTECTION_FAULT_STATUS__MORE_FAULTS::set(status, 1);
        return;
    }
    using Permissions = hub::VM_L2_PROTECTION_FAULT_STATUS__PERMISSION_FAULTS;
    switch (fault.reason) {
        case VmFault::Reason::no_context:
        case VmFault::Reason::below_start:
            status = hub::VM_L2_PROTECTION_FAULT_STATUS__WALKER_ERROR::set(0, walker_error_range);
            break;
        case VmFault::Reason::not_valid: status = Permissions::set(0, permission_valid); break;
        case VmFault::Reason::not_writeable: status = Permissions::set(0, permission_write); break;
        case VmFault::Reason::no_memory:
            status = hub::VM_L2_PROTECTION_FAULT_STATUS__MAPPING_ERROR::set(0, 1);
            break;
    }
    status = hub::VM_L2_PROTECTION_FAULT_STATUS__CID::set(status, layout_.fault_client);
    status = hub::VM_L2_PROTECTION_FAULT_STATUS__RW::set(status, fault.write);
    status = hub::VM_L2_PROTECTION_FAULT_STATUS__VMID::set(status, fault.vmid);
    const uint64_t page = fault.va >> page_shift;
    const uint32_t address = at(layout_.ip, layout_.VM_L2_PROTECTION_FAULT_ADDR_LO32);
    context_.registers.raw(address) = static_cast<uint32_t>(page);
    context_.registers.raw(address + 1) = static_cast<uint32_t>(page >> 32);
}

/// Also true for a new one while all that are remembered are recent.
bool VmHub::is_repeated(const VmFault& fault) {
    const uint64_t now = context_.gpu_clock();
    const auto is_recent = [&](const std::optional<Recent>& recent) {
        return recent && now - recent->time < repeat_ticks;
    };
    const auto is_same = [&](const std::optional<Recent>& recent) {
        return is_recent(recent) && recent->fault.vmid == fault.vmid &&
               recent->fault.write == fault.write &&
               recent->fault.va >> page_shift == fault.va >> page_shift;
    };
    if (std::ranges::any_of(recent_, is_same) || is_recent(recent_[oldest_])) {
        return true;
    }
    recent_[oldest_] = Recent{fault, now};
    oldest_ = (oldest_ + 1) % recent_.size();
    return false;
}

bool VmHub::wants_interrupt(const VmFault& fault) {
    if (fault.vmid >= GpuVm::vmids) {
        return false;
    }
    const uint32_t control =
        context_.registers.raw(at(layout_.ip, layout_.VM_CONTEXT0_CNTL) + fault.vmid);
    switch (fault.reason) {
        case VmFault::Reason::no_context:
        case VmFault::Reason::below_start:
            return hub::VM_CONTEXT0_CNTL__RANGE_PROTECTION_FAULT_ENABLE_INTERRUPT::get(control);
        case VmFault::Reason::not_valid:
            return hub::VM_CONTEXT0_CNTL__VALID_PROTECTION_FAULT_ENABLE_INTERRUPT::get(control);
        case VmFault::Reason::not_writeable:
            return hub::VM_CONTEXT0_CNTL__WRITE_PROTECTION_FAULT_ENABLE_INTERRUPT::get(control);
        case VmFault::Reason::no_memory:
            return hub::VM_CONTEXT0_CNTL__DUMMY_PAGE_PROTECTION_FAULT_ENABLE_INTERRUPT::get(
                control);
    }
    return false;
}

/// The table of the hub's own node is written by the hardware scheduler. The driver writes the
/// PASIDs of its own VMIDs without choosing a node, which is then the first die: another die may
/// have given that VMID to somebody else (gmc_v9_0_emit_pasid_mapping()).
uint16_t VmHub::pasid(unsigned vmid) {
    PasidLuts luts(context_.profile.ip(HwId::OSSSYS), context_.registers);
    const uint16_t scheduled = luts.read(layout_.ih_node, layout_.IH_VMID_0_LUT, vmid);
    if (scheduled != 0 || layout_.ih_node >= ih_node_of_aid(1)) {
        return scheduled;
    }
    return luts.read(ih_node_of_aid(0), layout_.IH_VMID_0_LUT, vmid);
}

void VmHub::raise(const VmFault& fault) {
    const uint64_t page = fault.va >> page_shift;
    context_.interrupts.raise(
        {.client_id = layout_.ih_client,
         .source_id = source_fault,
         .ring_id = fault.reason == VmFault::Reason::not_writeable ? ring_id_write : ring_id_valid,
         .vmid = static_cast<uint8_t>(fault.vmid),
         .vmid_src = layout_.vmid_src,
         .pasid = pasid(fault.vmid),
         .node_id = layout_.ih_node,
         .data = {static_cast<uint32_t>(page),
                  (static_cast<uint32_t>(page >> 32) & 0xf) |
                      (fault.write ? AMDGPU_GMC9_FAULT_SOURCE_DATA_WRITE
                                   : AMDGPU_GMC9_FAULT_SOURCE_DATA_READ),
                  0, 0}});
}

}  // namespace gpuemu
