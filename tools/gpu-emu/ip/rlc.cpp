// SPDX-License-Identifier: GPL-2.0
// Purpose: the RLC registers, as gfx_v9_4_3.c and gfx_v10_0.c use them.
// Thread: device loop only.
#include "gpu-emu/ip/rlc.h"

#include <utility>

#include "gpu-emu/ip/regs/gc_10_3_0.h"

namespace gpuemu {
namespace {

constexpr uint32_t RLC_SAFE_MODE__CMD = 1;  // cleared by the RLC once the command is carried out

}  // namespace

Rlc::Rlc(GcLayout gc, RegisterFile& registers, std::function<uint64_t()> gpu_clock)
    : gc_(std::move(gc)), registers_(registers), gpu_clock_(std::move(gpu_clock)) {
    registers_.on_write(at(gc_.ip, gc_.RLC_SAFE_MODE), 1, [this](uint32_t dword, uint32_t value) {
        registers_.raw(dword) = value & ~RLC_SAFE_MODE__CMD;
    });
    registers_.on_write(at(gc_.ip, gc_.RLC_CAPTURE_GPU_CLOCK_COUNT), 1, [this](uint32_t, uint32_t) {
        const uint64_t clock = gpu_clock_();
        registers_.raw(at(gc_.ip, gc_.RLC_GPU_CLOCK_COUNT_LSB)) = static_cast<uint32_t>(clock);
        registers_.raw(at(gc_.ip, gc_.RLC_GPU_CLOCK_COUNT_MSB)) =
            static_cast<uint32_t>(clock >> 32);
    });
}

void Rlc::reset(ResetKind) {
    for (const Reg zero : {gc_.RLC_SAFE_MODE, gc_.RLC_GPU_CLOCK_COUNT_LSB,
                           gc_.RLC_GPU_CLOCK_COUNT_MSB, gc_.CC_GC_SHADER_ARRAY_CONFIG,
                           gc_.GC_USER_SHADER_ARRAY_CONFIG, gc_.GRBM_STATUS, gc_.GRBM_STATUS2}) {
        registers_.raw(at(gc_.ip, zero)) = 0;  // nothing harvested, nothing busy
    }
    if (gc_.RLC_RLCS_BOOTLOAD_STATUS) {
        // Loading takes no time, so that it is done whenever the driver looks. The RLC runs from
        // then on: gfx_v10_0_is_rlc_enabled() wants to see that before it asks for safe mode.
        namespace gc = gc_10_3_0;
        registers_.raw(at(gc_.ip, *gc_.RLC_RLCS_BOOTLOAD_STATUS)) =
            gc::RLC_RLCS_BOOTLOAD_STATUS__BOOTLOAD_COMPLETE::set(0, 1);
        registers_.raw(at(gc_.ip, gc::mmRLC_CNTL)) = gc::RLC_CNTL__RLC_ENABLE_F32::set(0, 1);
    }
}

}  // namespace gpuemu
