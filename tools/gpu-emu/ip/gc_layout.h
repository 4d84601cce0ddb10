// SPDX-License-Identifier: GPL-2.0
// Purpose: where an XCC of a profile, by the version of its GC, keeps the registers of the command
// processor and the RLC that behave alike on all versions, and what else tells the versions apart.
// Thread: immutable after construction.
// Does not model: the hub of GC, which has a layout of its own (vm_hub.h).
#pragma once

#include <cstdint>
#include <optional>

#include "gpu-emu/ip/regs/registers.h"
#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

struct GcLayout {
    const IpInstance& ip;
    uint8_t ih_node;     // of interrupts of the command processor
    bool graphics_ring;  // there is a micro engine (ME0) with queues of its own
    Reg GRBM_GFX_CNTL;
    Reg CP_MQD_BASE_ADDR;  // the first of the HQD window
    Reg CP_MEC_DOORBELL_RANGE_LOWER, CP_MEC_DOORBELL_RANGE_UPPER;
    Reg CP_MEC_CNTL, CP_PQ_WPTR_POLL_CNTL1, CPC_INT_STATUS;
    Reg RLC_SAFE_MODE, RLC_CAPTURE_GPU_CLOCK_COUNT;
    Reg RLC_GPU_CLOCK_COUNT_LSB, RLC_GPU_CLOCK_COUNT_MSB;
    Reg CC_GC_SHADER_ARRAY_CONFIG, GC_USER_SHADER_ARRAY_CONFIG;
    Reg GRBM_STATUS, GRBM_STATUS2;
    std::optional<Reg> RLC_RLCS_BOOTLOAD_STATUS;  // of an RLC that loads the other firmware itself
    std::optional<Reg> CP_HYP_XCP_CTL;            // of a GPU that can be partitioned
    uint32_t packet_offset;  // of this XCC's registers from those that its packets name

    /// What a packet of this XCC means by `dword`: packets name the registers of their own XCC
    /// with 16 bits, as those of the first (NORMALIZE_XCC_REG_OFFSET).
    uint32_t of_packet(uint32_t dword) const;
};

/// `xcc`: which of those that are not harvested.
GcLayout gc_layout(const Profile& profile, unsigned xcc = 0);

inline constexpr uint8_t no_node = 0;  // GFX10 has no nodes

/// NODE_ID of the interrupts of a die and of the XCC, of two, in its place.
constexpr uint8_t ih_node_of_aid(unsigned aid) {
    return static_cast<uint8_t>(4 * aid);
}
constexpr uint8_t ih_node_of_xcc(unsigned instance) {
    return static_cast<uint8_t>(ih_node_of_aid(instance / 2) + 1 + instance % 2);
}

}  // namespace gpuemu
