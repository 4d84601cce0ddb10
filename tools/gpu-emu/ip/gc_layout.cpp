// SPDX-License-Identifier: GPL-2.0
// Purpose: the layouts, one for each GC version.
// Thread: immutable after construction.
#include "gpu-emu/ip/gc_layout.h"

#include <algorithm>

#include "gpu-emu/ip/regs/gc_10_3_0.h"
#include "gpu-emu/ip/regs/gc_9_4_3.h"

namespace gpuemu {
namespace {

// gfx_v9_4_3.c: XCC_REG_RANGE_0 and _1, which are segments 0 and 1 of the first XCC.
struct Range {
    uint32_t first, end;
};
constexpr Range xcc_ranges[] = {{0x2000, 0x3400}, {0xa000, 0x10000}};

}  // namespace

uint32_t GcLayout::of_packet(uint32_t dword) const {
    const bool own = std::ranges::any_of(xcc_ranges, [dword](const Range& range) {
        return dword >= range.first && dword < range.end;
    });
    return own ? dword + packet_offset : dword;
}

GcLayout gc_layout(const Profile& profile, unsigned xcc) {
    const IpInstance& ip = *profile.working(HwId::GC).at(xcc);
    if (ip.major == 10) {
        namespace gc = gc_10_3_0;
        return {ip,
                no_node,
                true,
                gc::mmGRBM_GFX_CNTL,
                gc::mmCP_MQD_BASE_ADDR,
                gc::mmCP_MEC_DOORBELL_RANGE_LOWER,
                gc::mmCP_MEC_DOORBELL_RANGE_UPPER,
                gc::mmCP_MEC_CNTL,
                gc::mmCP_PQ_WPTR_POLL_CNTL1,
                gc::mmCPC_INT_STATUS,
                gc::mmRLC_SAFE_MODE,
                gc::mmRLC_CAPTURE_GPU_CLOCK_COUNT,
                gc::mmRLC_GPU_CLOCK_COUNT_LSB,
                gc::mmRLC_GPU_CLOCK_COUNT_MSB,
                gc::mmCC_GC_SHADER_ARRAY_CONFIG,
                gc::mmGC_USER_SHADER_ARRAY_CONFIG,
                gc::mmGRBM_STATUS,
                gc::mmGRBM_STATUS2,
                gc::mmRLC_RLCS_BOOTLOAD_STATUS,
                std::nullopt,
                0};
    }
    namespace gc = gc_9_4_3;
    return {ip,
            ih_node_of_xcc(ip.instance),
            false,
            gc::regGRBM_GFX_CNTL,
            gc::regCP_MQD_BASE_ADDR,
            gc::regCP_MEC_DOORBELL_RANGE_LOWER,
            gc::regCP_MEC_DOORBELL_RANGE_UPPER,
            gc::regCP_MEC_CNTL,
            gc::regCP_PQ_WPTR_POLL_CNTL1,
            gc::regCPC_INT_STATUS,
            gc::regRLC_SAFE_MODE,
            gc::regRLC_CAPTURE_GPU_CLOCK_COUNT,
            gc::regRLC_GPU_CLOCK_COUNT_LSB,
            gc::regRLC_GPU_CLOCK_COUNT_MSB,
            gc::regCC_GC_SHADER_ARRAY_CONFIG,
            gc::regGC_USER_SHADER_ARRAY_CONFIG,
            gc::regGRBM_STATUS,
            gc::regGRBM_STATUS2,
            std::nullopt,
            gc::regCP_HYP_XCP_CTL,
            ip.bases.at(0) - profile.ip(HwId::GC).bases.at(0)};
}

}  // namespace gpuemu
