// SPDX-License-Identifier: GPL-2.0
// Purpose: the RLC registers, as gfx_v9_4_3.c uses them.
// Thread: device loop only.
// Does not model: see rlc.h.
#include "gpu-emu/ip/rlc.h"

#include <utility>

#include "gpu-emu/ip/regs/gc_9_4_3.h"

namespace gpuemu {
namespace {

namespace gc = gc_9_4_3;

constexpr uint32_t RLC_SAFE_MODE__CMD = 1;  // cleared by the RLC once the command is carried out

}  // namespace

Rlc::Rlc(const Profile& profile, RegisterFile& registers, std::function<uint64_t()> gpu_clock)
    : ip_(profile.ip(HwId::GC)), registers_(registers), gpu_clock_(std::move(gpu_clock)) {
    registers_.on_write(at(ip_, gc::regRLC_SAFE_MODE), 1, [this](uint32_t dword, uint32_t value) {
        registers_.raw(dword) = value & ~RLC_SAFE_MODE__CMD;
    });
    registers_.on_write(at(ip_, gc::regRLC_CAPTURE_GPU_CLOCK_COUNT), 1, [this](uint32_t, uint32_t) {
        const uint64_t clock = gpu_clock_();
        registers_.raw(at(ip_, gc::regRLC_GPU_CLOCK_COUNT_LSB)) = static_cast<uint32_t>(clock);
        registers_.raw(at(ip_, gc::regRLC_GPU_CLOCK_COUNT_MSB)) =
            static_cast<uint32_t>(clock >> 32);
    });
}

void Rlc::reset(ResetKind) {
    for (const Reg zero :
         {gc::regRLC_SAFE_MODE, gc::regRLC_GPU_CLOCK_COUNT_LSB, gc::regRLC_GPU_CLOCK_COUNT_MSB,
          gc::regCC_GC_SHADER_ARRAY_CONFIG, gc::regGC_USER_SHADER_ARRAY_CONFIG, gc::regGRBM_STATUS,
          gc::regGRBM_STATUS2}) {
        registers_.raw(at(ip_, zero)) = 0;  // nothing harvested, nothing busy
    }
}

}  // namespace gpuemu
