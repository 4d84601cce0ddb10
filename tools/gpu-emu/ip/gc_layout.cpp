// SPDX-License-Identifier: GPL-2.0
// Purpose: the layouts, one for each GC version.
// Thread: immutable after construction.
// Does not model: see gc_layout.h.
#include "gpu-emu/ip/gc_layout.h"

#include "gpu-emu/ip/regs/gc_10_3_0.h"
#include "gpu-emu/ip/regs/gc_9_4_3.h"

namespace gpuemu {
namespace {

// gfx_v9_4_3_ih_to_xcc_inst(): node 0 is the AID, 1 its first XCC. GFX10 has no nodes.
constexpr uint8_t node_id_xcc0 = 1;
constexpr uint8_t no_node = 0;

}  // namespace

GcLayout gc_layout(const Profile& profile) {
    const IpInstance& ip = profile.ip(HwId::GC);
    if (ip.major == 10) {
        namespace gc = gc_10_3_0;
        return {ip,
                no_node,
                true,
                gc::mmGRBM_GFX_CNTL,
                gc::mmCP_MQD_BASE_ADDR,
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
                gc::mmRLC_RLCS_BOOTLOAD_STATUS};
    }
    namespace gc = gc_9_4_3;
    return {ip,
            node_id_xcc0,
            false,
            gc::regGRBM_GFX_CNTL,
            gc::regCP_MQD_BASE_ADDR,
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
            std::nullopt};
}

}  // namespace gpuemu
