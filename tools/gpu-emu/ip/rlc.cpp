// SPDX-License-Identifier: GPL-2.0
// Purpose: the RLC registers, as gfx_v9_4_3.c and gfx_v10_0.c use them.
// Thread: device loop only.
#include "gpu-emu/ip/rlc.h"

#include <utility>

#include "gpu-emu/ip/regs/gc_10_3_0.h"

namespace gpuemu {
namespace {

using RLC_SAFE_MODE__CMD = Field<0, 0>;  // the RLC clears it once the command is carried out

}  // namespace

Rlc::Rlc(GcLayout gc, RegisterType fuses, RegisterFile& registers,
         std::function<uint64_t()> gpu_clock)
    : gc_(std::move(gc)), registers_(registers), gpu_clock_(std::move(gpu_clock)) {
    const auto declare = [this](Reg reg, Register what) {
        registers_.declare(at(gc_.ip, reg), 1, std::move(what));
    };
    declare(gc_.RLC_SAFE_MODE, {.type = with_self_clearing(RLC_SAFE_MODE__CMD::mask)});
    declare(gc_.RLC_CAPTURE_GPU_CLOCK_COUNT,
            {.type = trigger, .written = [this](uint32_t, uint32_t) { capture_clock(); }});
    for (const Reg counted : {gc_.RLC_GPU_CLOCK_COUNT_LSB, gc_.RLC_GPU_CLOCK_COUNT_MSB,
                              gc_.GRBM_STATUS, gc_.GRBM_STATUS2}) {
        declare(counted, {.type = read_only});
    }
    declare(gc_.CC_GC_SHADER_ARRAY_CONFIG, {.type = fuses});
    if (gc_.RLC_RLCS_BOOTLOAD_STATUS) {
        declare(*gc_.RLC_RLCS_BOOTLOAD_STATUS, {.type = read_only});
    }
}

void Rlc::capture_clock() {
    const uint64_t clock = gpu_clock_();
    registers_.raw(at(gc_.ip, gc_.RLC_GPU_CLOCK_COUNT_LSB)) = static_cast<uint32_t>(clock);
    registers_.raw(at(gc_.ip, gc_.RLC_GPU_CLOCK_COUNT_MSB)) = static_cast<uint32_t>(clock >> 32);
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
