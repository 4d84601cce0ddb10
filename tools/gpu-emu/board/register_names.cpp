// SPDX-License-Identifier: GPL-2.0
// Purpose: the list of registers with a name, taken from the constants of ip/regs/.
// Thread: immutable after construction.
#include "gpu-emu/board/register_names.h"

#include <fmt/format.h>

#include <span>

#include "gpu-emu/ip/gc_layout.h"
#include "gpu-emu/ip/regs/gc_10_3_0.h"
#include "gpu-emu/ip/regs/gc_9_4_3.h"
#include "gpu-emu/ip/regs/mmhub_1_8_0.h"
#include "gpu-emu/ip/regs/mmhub_2_0_0.h"
#include "gpu-emu/ip/regs/mp_13_0_6.h"
#include "gpu-emu/ip/regs/nbio_2_3.h"
#include "gpu-emu/ip/regs/nbio_7_9_0.h"
#include "gpu-emu/ip/regs/osssys_4_4_2.h"
#include "gpu-emu/ip/regs/sdma_4_4_2.h"
#include "gpu-emu/ip/regs/smuio_11_0_0.h"
#include "gpu-emu/ip/sdma/sdma_layout.h"
#include "gpu-emu/ip/vcn/vcn_layout.h"

namespace gpuemu {
namespace {

/// A register, or `count` of them `stride` dwords apart whose number stands for {} in the name.
struct NamedRegister {
    HwId hw_id;
    Reg reg;
    const char* name;
    uint32_t count = 1;
    uint32_t stride = 1;
};

// The name of a constant is only to be had from the preprocessor.
#define NAMED(hw, block, reg) \
    { HwId::hw, block::reg, #reg }
#define RANGE(hw, block, reg, pattern, count, stride) \
    { HwId::hw, block::reg, pattern, count, stride }

// Both hubs have them, at other places.
#define VM_HUB(hw, block)                                                                     \
    NAMED(hw, block, regVM_L2_PROTECTION_FAULT_CNTL),                                         \
        NAMED(hw, block, regVM_L2_PROTECTION_FAULT_STATUS),                                   \
        NAMED(hw, block, regVM_L2_PROTECTION_FAULT_ADDR_LO32),                                \
        RANGE(hw, block, regVM_CONTEXT0_CNTL, "regVM_CONTEXT{}_CNTL", 16, 1),                 \
        RANGE(hw, block, regVM_INVALIDATE_ENG0_SEM, "regVM_INVALIDATE_ENG{}_SEM", 18, 1),     \
        RANGE(hw, block, regVM_INVALIDATE_ENG0_REQ, "regVM_INVALIDATE_ENG{}_REQ", 18, 1),     \
        RANGE(hw, block, regVM_INVALIDATE_ENG0_ACK, "regVM_INVALIDATE_ENG{}_ACK", 18, 1),     \
        RANGE(hw, block, regVM_CONTEXT0_PAGE_TABLE_BASE_ADDR_LO32,                            \
              "regVM_CONTEXT{}_PAGE_TABLE_BASE_ADDR_LO32", 16, 2),                            \
        RANGE(hw, block, regVM_CONTEXT0_PAGE_TABLE_START_ADDR_LO32,                           \
              "regVM_CONTEXT{}_PAGE_TABLE_START_ADDR_LO32", 16, 2),                           \
        RANGE(hw, block, regVM_CONTEXT0_PAGE_TABLE_END_ADDR_LO32,                             \
              "regVM_CONTEXT{}_PAGE_TABLE_END_ADDR_LO32", 16, 2),                             \
        NAMED(hw, block, regMC_VM_FB_OFFSET), NAMED(hw, block, regMC_VM_FB_LOCATION_BASE),    \
        NAMED(hw, block, regMC_VM_FB_LOCATION_TOP), NAMED(hw, block, regMC_VM_XGMI_LFB_CNTL), \
        NAMED(hw, block, regMC_VM_XGMI_LFB_SIZE)

// At the same places of their segments on all ASICs.
constexpr NamedRegister common_registers[] = {
    NAMED(NBIF, nbio_7_9_0, regBIF_BX_PF0_MM_INDEX),
    NAMED(NBIF, nbio_7_9_0, regBIF_BX_PF0_MM_DATA),
    NAMED(NBIF, nbio_7_9_0, regBIF_BX_PF0_MM_INDEX_HI),
    NAMED(NBIF, nbio_7_9_0, regBIF_BX0_PCIE_INDEX2),
    NAMED(NBIF, nbio_7_9_0, regBIF_BX0_PCIE_DATA2),
    NAMED(NBIF, nbio_7_9_0, regRCC_DEV0_EPF0_RCC_CONFIG_MEMSIZE),
    NAMED(NBIF, nbio_7_9_0, regRCC_DEV0_EPF0_RCC_IOV_FUNC_IDENTIFIER),
    NAMED(NBIF, nbio_7_9_0, regBIF_BX_PF0_GPU_HDP_FLUSH_REQ),
    NAMED(NBIF, nbio_7_9_0, regBIF_BX_PF0_GPU_HDP_FLUSH_DONE),
    NAMED(NBIF, nbio_7_9_0, regBIF_BX0_INTERRUPT_CNTL),
    NAMED(NBIF, nbio_7_9_0, regBIF_BX0_INTERRUPT_CNTL2),
    NAMED(NBIF, nbio_7_9_0, regBIF_BX0_BACO_CNTL),
    NAMED(NBIF, nbio_7_9_0, regBIF_BX0_REMAP_HDP_MEM_FLUSH_CNTL),
    NAMED(NBIF, nbio_7_9_0, regRCC_DEV0_EPF0_RCC_DOORBELL_APER_EN),
    RANGE(OSSSYS, osssys_4_4_2, regIH_VMID_0_LUT, "regIH_VMID_{}_LUT", 16, 1),
    RANGE(OSSSYS, osssys_4_4_2, regIH_VMID_0_LUT_MM, "regIH_VMID_{}_LUT_MM", 16, 1),
    NAMED(OSSSYS, osssys_4_4_2, regIH_RB_CNTL),
    NAMED(OSSSYS, osssys_4_4_2, regIH_RB_BASE),
    NAMED(OSSSYS, osssys_4_4_2, regIH_RB_BASE_HI),
    NAMED(OSSSYS, osssys_4_4_2, regIH_RB_RPTR),
    NAMED(OSSSYS, osssys_4_4_2, regIH_RB_WPTR),
    NAMED(OSSSYS, osssys_4_4_2, regIH_RB_WPTR_ADDR_HI),
    NAMED(OSSSYS, osssys_4_4_2, regIH_RB_WPTR_ADDR_LO),
    NAMED(OSSSYS, osssys_4_4_2, regIH_DOORBELL_RPTR),
    NAMED(OSSSYS, osssys_4_4_2, regIH_RB_CNTL_RING1),
    NAMED(OSSSYS, osssys_4_4_2, regIH_CHICKEN),
    NAMED(MP0, mp_13_0_6, regMP0_SMN_C2PMSG_33),
    NAMED(MP0, mp_13_0_6, regMP0_SMN_C2PMSG_35),
    NAMED(MP0, mp_13_0_6, regMP0_SMN_C2PMSG_36),
    NAMED(MP0, mp_13_0_6, regMP0_SMN_C2PMSG_58),
    NAMED(MP0, mp_13_0_6, regMP0_SMN_C2PMSG_64),
    NAMED(MP0, mp_13_0_6, regMP0_SMN_C2PMSG_67),
    NAMED(MP0, mp_13_0_6, regMP0_SMN_C2PMSG_69),
    NAMED(MP0, mp_13_0_6, regMP0_SMN_C2PMSG_70),
    NAMED(MP0, mp_13_0_6, regMP0_SMN_C2PMSG_71),
    NAMED(MP0, mp_13_0_6, regMP0_SMN_C2PMSG_81),
    NAMED(MP0, mp_13_0_6, regMP0_SMN_C2PMSG_101),
    NAMED(MP0, mp_13_0_6, regMP0_SMN_C2PMSG_102),
    NAMED(MP0, mp_13_0_6, regMP0_SMN_C2PMSG_103),
    NAMED(MP0, mp_13_0_6, regMP0_SMN_C2PMSG_127),
    NAMED(MP0, mp_13_0_6, regMP1_SMN_C2PMSG_66),
    NAMED(MP0, mp_13_0_6, regMP1_SMN_C2PMSG_82),
    NAMED(MP0, mp_13_0_6, regMP1_SMN_C2PMSG_90),
};

constexpr NamedRegister gfx9_registers[] = {
    NAMED(NBIF, nbio_7_9_0, regBIF_BX0_PCIE_INDEX2_HI),
    NAMED(NBIF, nbio_7_9_0, regRCC_STRAP0_RCC_DEV0_EPF0_STRAP0),
    NAMED(NBIF, nbio_7_9_0, regBIF_BX0_BIF_DOORBELL_INT_CNTL),
    NAMED(NBIF, nbio_7_9_0, regBIF_BX0_BIF_FB_EN),
    NAMED(NBIF, nbio_7_9_0, regBIF_BX_PF0_PARTITION_COMPUTE_CAP),
    NAMED(NBIF, nbio_7_9_0, regBIF_BX_PF0_PARTITION_MEM_CAP),
    NAMED(NBIF, nbio_7_9_0, regBIF_BX_PF0_PARTITION_COMPUTE_STATUS),
    NAMED(NBIF, nbio_7_9_0, regBIF_BX_PF0_PARTITION_MEM_STATUS),
    RANGE(NBIF, nbio_7_9_0, mmMAILBOX_MSGBUF_TRN_DW0, "mmMAILBOX_MSGBUF_TRN_DW{}", 4, 1),
    RANGE(NBIF, nbio_7_9_0, mmMAILBOX_MSGBUF_RCV_DW0, "mmMAILBOX_MSGBUF_RCV_DW{}", 4, 1),
    NAMED(NBIF, nbio_7_9_0, mmMAILBOX_CONTROL),
    NAMED(NBIF, nbio_7_9_0, mmMAILBOX_INT_CNTL),
    VM_HUB(MMHUB, mmhub_1_8_0),
    NAMED(GC, gc_9_4_3, regGRBM_STATUS2),
    NAMED(GC, gc_9_4_3, regGRBM_STATUS),
    NAMED(GC, gc_9_4_3, regGRBM_GFX_CNTL),
    NAMED(GC, gc_9_4_3, regCC_GC_SHADER_ARRAY_CONFIG),
    NAMED(GC, gc_9_4_3, regGC_USER_SHADER_ARRAY_CONFIG),
    NAMED(GC, gc_9_4_3, regCP_MEC_CNTL),
    NAMED(GC, gc_9_4_3, regCP_PQ_WPTR_POLL_CNTL1),
    NAMED(GC, gc_9_4_3, regCPC_INT_STATUS),
    NAMED(GC, gc_9_4_3, regCP_HYP_XCP_CTL),
    NAMED(GC, gc_9_4_3, regSCRATCH_REG0),
    NAMED(GC, gc_9_4_3, regSCRATCH_REG1),
    NAMED(GC, gc_9_4_3, regSCRATCH_REG2),
    NAMED(GC, gc_9_4_3, regSCRATCH_REG3),
    NAMED(GC, gc_9_4_3, regRLC_SAFE_MODE),
    NAMED(GC, gc_9_4_3, regRLC_GPU_CLOCK_COUNT_LSB),
    NAMED(GC, gc_9_4_3, regRLC_GPU_CLOCK_COUNT_MSB),
    NAMED(GC, gc_9_4_3, regRLC_CAPTURE_GPU_CLOCK_COUNT),
    NAMED(GC, gc_9_4_3, regRLC_SPARE_INT),
    VM_HUB(GC, gc_9_4_3),
};

// Both hubs have them, with a prefix of their own.
#define VM_HUB10(hw, block, prefix)                                                              \
    NAMED(hw, block, mm##prefix##VM_L2_PROTECTION_FAULT_CNTL),                                   \
        NAMED(hw, block, mm##prefix##VM_L2_PROTECTION_FAULT_STATUS),                             \
        NAMED(hw, block, mm##prefix##VM_L2_PROTECTION_FAULT_ADDR_LO32),                          \
        RANGE(hw, block, mm##prefix##VM_CONTEXT0_CNTL, "mm" #prefix "VM_CONTEXT{}_CNTL", 16, 1), \
        RANGE(hw, block, mm##prefix##VM_INVALIDATE_ENG0_SEM,                                     \
              "mm" #prefix "VM_INVALIDATE_ENG{}_SEM", 18, 1),                                    \
        RANGE(hw, block, mm##prefix##VM_INVALIDATE_ENG0_REQ,                                     \
              "mm" #prefix "VM_INVALIDATE_ENG{}_REQ", 18, 1),                                    \
        RANGE(hw, block, mm##prefix##VM_INVALIDATE_ENG0_ACK,                                     \
              "mm" #prefix "VM_INVALIDATE_ENG{}_ACK", 18, 1),                                    \
        RANGE(hw, block, mm##prefix##VM_CONTEXT0_PAGE_TABLE_BASE_ADDR_LO32,                      \
              "mm" #prefix "VM_CONTEXT{}_PAGE_TABLE_BASE_ADDR_LO32", 16, 2),                     \
        RANGE(hw, block, mm##prefix##VM_CONTEXT0_PAGE_TABLE_START_ADDR_LO32,                     \
              "mm" #prefix "VM_CONTEXT{}_PAGE_TABLE_START_ADDR_LO32", 16, 2),                    \
        RANGE(hw, block, mm##prefix##VM_CONTEXT0_PAGE_TABLE_END_ADDR_LO32,                       \
              "mm" #prefix "VM_CONTEXT{}_PAGE_TABLE_END_ADDR_LO32", 16, 2),                      \
        NAMED(hw, block, mm##prefix##MC_VM_FB_OFFSET),                                           \
        NAMED(hw, block, mm##prefix##MC_VM_FB_LOCATION_BASE),                                    \
        NAMED(hw, block, mm##prefix##MC_VM_FB_LOCATION_TOP)

constexpr NamedRegister gfx10_registers[] = {
    NAMED(NBIF, nbio_2_3, mmRCC_DEV0_EPF0_STRAP0),
    RANGE(NBIF, nbio_2_3, mmBIOS_SCRATCH_0, "mmBIOS_SCRATCH_{}", 16, 1),
    VM_HUB10(MMHUB, mmhub_2_0_0, MM),
    VM_HUB10(GC, gc_10_3_0, GC),
    NAMED(GC, gc_10_3_0, mmGRBM_STATUS2),
    NAMED(GC, gc_10_3_0, mmGRBM_STATUS),
    NAMED(GC, gc_10_3_0, mmGRBM_GFX_CNTL),
    NAMED(GC, gc_10_3_0, mmCC_GC_SA_UNIT_DISABLE),
    NAMED(GC, gc_10_3_0, mmCC_GC_SHADER_ARRAY_CONFIG),
    NAMED(GC, gc_10_3_0, mmGC_USER_SHADER_ARRAY_CONFIG),
    NAMED(GC, gc_10_3_0, mmCP_STAT),
    NAMED(GC, gc_10_3_0, mmCP_MEC_CNTL),
    NAMED(GC, gc_10_3_0, mmCP_ME_CNTL),
    NAMED(GC, gc_10_3_0, mmCP_PQ_WPTR_POLL_CNTL1),
    NAMED(GC, gc_10_3_0, mmCPC_INT_STATUS),
    NAMED(GC, gc_10_3_0, mmCP_VMID_RESET),
    NAMED(GC, gc_10_3_0, mmCP_GFX_HQD_ACTIVE),
    NAMED(GC, gc_10_3_0, mmRLC_CNTL),
    NAMED(GC, gc_10_3_0, mmSCRATCH_REG0),
    NAMED(GC, gc_10_3_0, mmRLC_SAFE_MODE),
    NAMED(GC, gc_10_3_0, mmRLC_GPU_CLOCK_COUNT_LSB),
    NAMED(GC, gc_10_3_0, mmRLC_GPU_CLOCK_COUNT_MSB),
    NAMED(GC, gc_10_3_0, mmRLC_CAPTURE_GPU_CLOCK_COUNT),
    NAMED(GC, gc_10_3_0, mmRLC_RLCS_BOOTLOAD_STATUS),
    NAMED(SMUIO, smuio_11_0_0, mmROM_INDEX),
    NAMED(SMUIO, smuio_11_0_0, mmROM_DATA),
    NAMED(SMUIO, smuio_11_0_0, mmGOLDEN_TSC_COUNT_UPPER),
    NAMED(SMUIO, smuio_11_0_0, mmGOLDEN_TSC_COUNT_LOWER),
};

/// Of the HQD window, from its first register on, whose place is the version's.
constexpr NamedRegister hqd_registers[] = {
    NAMED(GC, gc_9_4_3, regCP_MQD_BASE_ADDR),
    NAMED(GC, gc_9_4_3, regCP_MQD_BASE_ADDR_HI),
    NAMED(GC, gc_9_4_3, regCP_HQD_ACTIVE),
    NAMED(GC, gc_9_4_3, regCP_HQD_VMID),
    NAMED(GC, gc_9_4_3, regCP_HQD_PQ_BASE),
    NAMED(GC, gc_9_4_3, regCP_HQD_PQ_BASE_HI),
    NAMED(GC, gc_9_4_3, regCP_HQD_PQ_RPTR),
    NAMED(GC, gc_9_4_3, regCP_HQD_PQ_RPTR_REPORT_ADDR),
    NAMED(GC, gc_9_4_3, regCP_HQD_PQ_RPTR_REPORT_ADDR_HI),
    NAMED(GC, gc_9_4_3, regCP_HQD_PQ_WPTR_POLL_ADDR),
    NAMED(GC, gc_9_4_3, regCP_HQD_PQ_WPTR_POLL_ADDR_HI),
    NAMED(GC, gc_9_4_3, regCP_HQD_PQ_DOORBELL_CONTROL),
    NAMED(GC, gc_9_4_3, regCP_HQD_PQ_CONTROL),
    NAMED(GC, gc_9_4_3, regCP_HQD_IB_BASE_ADDR),
    NAMED(GC, gc_9_4_3, regCP_HQD_IB_BASE_ADDR_HI),
    NAMED(GC, gc_9_4_3, regCP_HQD_IB_RPTR),
    NAMED(GC, gc_9_4_3, regCP_HQD_IB_CONTROL),
    NAMED(GC, gc_9_4_3, regCP_HQD_DEQUEUE_REQUEST),
    NAMED(GC, gc_9_4_3, regCP_HQD_AQL_CONTROL),
    NAMED(GC, gc_9_4_3, regCP_HQD_PQ_WPTR_LO),
    NAMED(GC, gc_9_4_3, regCP_HQD_PQ_WPTR_HI),
    NAMED(GC, gc_9_4_3, regCP_HQD_AQL_DISPATCH_ID_HI),
};

#undef VM_HUB10

#undef NAMED
#undef RANGE
#undef VM_HUB

/// Queue registers of an SDMA instance, relative to the queue's RB_CNTL.
struct SdmaQueueRegister {
    uint32_t offset;
    const char* name;
};

constexpr SdmaQueueRegister sdma_queue_registers[] = {
    {sdma_4_4_2::RB_CNTL, "RB_CNTL"},
    {sdma_4_4_2::RB_BASE, "RB_BASE"},
    {sdma_4_4_2::RB_BASE_HI, "RB_BASE_HI"},
    {sdma_4_4_2::RB_RPTR, "RB_RPTR"},
    {sdma_4_4_2::RB_RPTR_HI, "RB_RPTR_HI"},
    {sdma_4_4_2::RB_WPTR, "RB_WPTR"},
    {sdma_4_4_2::RB_WPTR_HI, "RB_WPTR_HI"},
    {sdma_4_4_2::RB_RPTR_ADDR_HI, "RB_RPTR_ADDR_HI"},
    {sdma_4_4_2::RB_RPTR_ADDR_LO, "RB_RPTR_ADDR_LO"},
    {sdma_4_4_2::DOORBELL, "DOORBELL"},
    {sdma_4_4_2::DOORBELL_OFFSET, "DOORBELL_OFFSET"},
};

void add_sdma(std::size_t instance, uint32_t first_dword,
              std::unordered_map<uint32_t, std::string>& names) {
    constexpr uint32_t rlc_queues = 8;
    const auto add_queue = [&](Reg rb_cntl, uint32_t index, const std::string& queue) {
        for (const SdmaQueueRegister& reg : sdma_queue_registers) {
            const uint32_t dword =
                first_dword + rb_cntl.offset + index * sdma_4_4_2::queue_stride + reg.offset;
            names.emplace(dword, fmt::format("SDMA{}.regSDMA_{}_{}", instance, queue, reg.name));
        }
    };
    names.emplace(first_dword + sdma_4_4_2::regSDMA_STATUS_REG.offset,
                  fmt::format("SDMA{}.regSDMA_STATUS_REG", instance));
    add_queue(sdma_4_4_2::regSDMA_GFX_RB_CNTL, 0, "GFX");
    add_queue(sdma_4_4_2::regSDMA_PAGE_RB_CNTL, 0, "PAGE");
    for (uint32_t queue = 0; queue < rlc_queues; ++queue) {
        add_queue(sdma_4_4_2::regSDMA_RLC0_RB_CNTL, queue, fmt::format("RLC{}", queue));
    }
}

/// The registers of a VCN instance and its JPEG decoders, and those of their rings.
void add_vcn(const VcnLayout& vcn, std::unordered_map<uint32_t, std::string>& names) {
    const unsigned instance = vcn.place.instance;
    const auto add = [&](std::optional<uint32_t> dword, const char* name) {
        if (dword) {
            names.emplace(*dword, fmt::format("VCN{}.{}", instance, name));
        }
    };
    const auto add_ring = [&](const std::string& owner, const VideoRing::Layout& ring) {
        const std::pair<uint32_t, const char*> registers[] = {{ring.base, "BASE_LO"},
                                                              {ring.base + 1, "BASE_HI"},
                                                              {ring.size, "SIZE"},
                                                              {ring.rptr, "RPTR"},
                                                              {ring.wptr, "WPTR"}};
        for (const auto& [dword, name] : registers) {
            names.emplace(dword, fmt::format("{}.{}_RB_{}", owner, ring.name, name));
        }
        if (ring.doorbell.kind == VideoDoorbell::Kind::own) {
            names.emplace(ring.doorbell.dword, fmt::format("{}.{}_DB_CTRL", owner, ring.name));
        }
    };
    add(vcn.pgfsm_config, "UVD_PGFSM_CONFIG");
    add(vcn.pgfsm_status, "UVD_PGFSM_STATUS");
    add(vcn.power_status, "UVD_POWER_STATUS");
    add(vcn.dpg_lma_ctl, "UVD_DPG_LMA_CTL");
    add(vcn.dpg_lma_data, "UVD_DPG_LMA_DATA");
    add(vcn.dpg_pause, "UVD_DPG_PAUSE");
    add(vcn.status, "UVD_STATUS");
    add(vcn.vcpu_cntl, "UVD_VCPU_CNTL");
    add(vcn.lmi_status, "UVD_LMI_STATUS");
    add(vcn.rb_enable, "VCN_RB_ENABLE");
    add(vcn.harvesting, "CC_UVD_HARVESTING");
    add(vcn.jpeg.jmi_cntl, "UVD_JMI_CNTL");
    add(vcn.jpeg.core_rst_ctrl, "JPEG_CORE_RST_CTRL");
    if (vcn.mmsch) {
        add(vcn.mmsch->ctx_addr, "MMSCH_VF_CTX_ADDR_LO");
        add(vcn.mmsch->ctx_size, "MMSCH_VF_CTX_SIZE");
        add(vcn.mmsch->mailbox_host, "MMSCH_VF_MAILBOX_HOST");
        add(vcn.mmsch->mailbox_resp, "MMSCH_VF_MAILBOX_RESP");
    }
    for (const VideoRing::Layout& ring : vcn.rings) {
        add_ring(fmt::format("VCN{}", instance), ring);
    }
    for (const JpegCoreLayout& core : vcn.jpeg.cores) {
        const std::string owner = fmt::format("JPEG{}", instance);
        add_ring(owner, core.ring);
        names.emplace(core.rb_cntl, fmt::format("{}.{}_RB_CNTL", owner, core.ring.name));
        names.emplace(core.status, fmt::format("{}.{}_STATUS", owner, core.ring.name));
    }
}

/// Both hubs of GFX9 use the same names, and so do all instances of either.
std::string prefix(const IpInstance& ip) {
    const std::string number = ip.instance == 0 ? "" : std::to_string(ip.instance);
    switch (ip.hw_id) {
        case HwId::MMHUB: return "MMHUB" + number + ".";
        case HwId::GC: return ip.instance == 0 ? "" : "XCC" + number + ".";
        default: return "";
    }
}

/// Those whose registers have names; of the others the first instance stands for all.
std::vector<const IpInstance*> named_instances(const Profile& profile, HwId hw_id) {
    if (hw_id == HwId::GC || hw_id == HwId::MMHUB) {
        return profile.working(hw_id);
    }
    return {&profile.ip(hw_id)};
}

}  // namespace

RegisterNames::RegisterNames(const Profile& profile) {
    const auto add = [&](std::span<const NamedRegister> list) {
        for (const NamedRegister& named : list) {
            for (const IpInstance* ip : named_instances(profile, named.hw_id)) {
                const uint32_t first = at(*ip, named.reg);
                for (uint32_t index = 0; index < named.count; ++index) {
                    names_.emplace(first + index * named.stride,
                                   prefix(*ip) + fmt::format(fmt::runtime(named.name), index));
                }
            }
        }
    };
    add(common_registers);
    const GcLayout gc = gc_layout(profile);
    if (gc.ip.major == 10) {
        add(gfx10_registers);
    } else {
        add(gfx9_registers);
    }
    for (const NamedRegister& named : hqd_registers) {
        const uint32_t in_window = named.reg.offset - gc_9_4_3::regCP_MQD_BASE_ADDR.offset;
        for (const IpInstance* ip : named_instances(profile, HwId::GC)) {
            names_.emplace(at(*ip, gc.CP_MQD_BASE_ADDR) + in_window, prefix(*ip) + named.name);
        }
    }
    const std::vector<SdmaLayout> sdma = sdma_layouts(profile);
    for (std::size_t instance = 0; instance < sdma.size(); ++instance) {
        add_sdma(instance, sdma[instance].first_dword, names_);
    }
    for (const VcnLayout& vcn : vcn_layouts(profile)) {
        add_vcn(vcn, names_);
    }
}

std::string RegisterNames::name(uint32_t dword) const {
    const auto found = names_.find(dword);
    return found == names_.end() ? std::string() : found->second;
}

}  // namespace gpuemu
