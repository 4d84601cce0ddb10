// SPDX-License-Identifier: GPL-2.0
// Purpose: the VCN instances of a profile, each with its JPEG decoders: where a version keeps the
// registers, how its packets name them, which rings it has, through which hub it sees memory, and
// who its interrupts come from. Thread: values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu-emu/ip/regs/registers.h"
#include "gpu-emu/ip/vcn/video_ring.h"
#include "gpu-emu/mem/gpu_memory.h"
#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

/// Registers as packets name them, and the MMIO dwords that these are.
struct RegisterWindow {
    uint32_t first_internal, dwords, first_dword;

    std::optional<uint32_t> dword(uint32_t internal) const {
        const uint32_t offset = internal - first_internal;
        return offset < dwords ? std::optional(first_dword + offset) : std::nullopt;
    }
};

/// What VCN and JPEG of an instance have in common.
struct VideoPlace {
    unsigned instance;
    Hub hub;
    uint8_t ih_client;
    uint8_t ih_node = 0;  // the AID, where there are nodes
    /// Registers of its die that have other addresses there than packets say: packets carry 17 bits
    /// (NORMALIZE_VCN_REG_OFFSET) and mean what is on their own AID.
    std::optional<RegisterWindow> own_die;

    /// What a packet means by MMIO dword `dword`.
    uint32_t of_packet(uint32_t dword) const {
        return own_die ? own_die->dword(dword).value_or(dword) : dword;
    }
};

/// One decoder of JPEG, a JRBC with its memory interface. Its registers as packets name them.
struct JpegCoreLayout {
    VideoRing::Layout ring;
    uint32_t rb_cntl, rb_vmid, status;  // MMIO dwords
    RegisterWindow window;              // the rest of what packets name is seen by nobody else
    std::optional<uint32_t> client_stall, client_clean_status;  // MMIO dwords
};

struct JpegLayout {
    VideoPlace place;
    std::vector<JpegCoreLayout> cores;
    uint32_t jmi_cntl;                      // MMIO dword
    std::optional<uint32_t> core_rst_ctrl;  // MMIO dword; nothing: cores are reset with all of it
    // Names of registers in packets.
    uint32_t gpcom_data0, mem_wr_bar, ib_vmid, ib_bar;
};

/// Where the ring that decodes on VCN 3 keeps what its packets work with. MMIO dwords.
struct RbcLayout {
    uint32_t gpcom_cmd, gpcom_data0, gpcom_data1, context_id, gp_scratch8;
    uint32_t ib_size, ib_bar, ib_vmid, rb_vmid;
};

/// The host's scheduler of a virtual function. MMIO dwords.
struct MmschLayout {
    uint32_t ctx_addr, ctx_size, mailbox_host, mailbox_resp;
    uint32_t nc0_bar;          // UVD_LMI_VCPU_NC0_64BIT_BAR_LOW
    uint32_t from_first;       // of this instance's registers from those that its tables name
    std::vector<uint32_t> db;  // VCN_*_DB_CTRL that the host sets, of the rings in their order
};

struct VcnLayout {
    VideoPlace place;
    std::vector<VideoRing::Layout> rings;  // with an RBC it is the first
    std::optional<RbcLayout> rbc;          // nothing: one unified ring, which the firmware fetches
    std::optional<uint32_t> pgfsm_config, pgfsm_status;
    uint32_t power_status, dpg_lma_ctl, dpg_lma_data, dpg_pause;
    uint32_t dpg_lma_address_shift;
    uint32_t status, vcpu_cntl, lmi_status;
    std::optional<uint32_t> rb_enable;
    uint32_t rb_enable_mask = 0;
    std::optional<uint32_t> harvesting;
    std::vector<RegisterWindow> windows;  // of what packets and SRAM images name
    uint32_t video_first, video_end;      // MMIO dwords that lose their values without power
    std::optional<MmschLayout> mmsch;     // of a virtual function
    JpegLayout jpeg;                      // no cores: this instance has none

    /// The MMIO dword of a register as packets name it.
    std::optional<uint32_t> dword(uint32_t internal) const;
};

/// In the order of the instances; those that are harvested are left out.
std::vector<VcnLayout> vcn_layouts(const Profile& profile);

}  // namespace gpuemu
