// SPDX-License-Identifier: GPL-2.0
// Purpose: the RLCG protocol of amdgpu_virt_rlcg_reg_rw().
// Thread: device loop only.
#include "gpu-emu/ip/rlcg.h"

#include "gpu-emu/ip/regs/gc_9_4_3.h"

namespace gpuemu {
namespace {

namespace gc = gc_9_4_3;

// SCRATCH_REG1 (amdgpu_virt.h).
using RLCG_SCRATCH1__ADDRESS = Field<19, 0>;
using RLCG_SCRATCH1__COMMAND = Field<31, 28>;
constexpr uint32_t AMDGPU_RLCG_GC_WRITE_LEGACY = 0x8;
constexpr uint32_t AMDGPU_RLCG_GC_WRITE = 0x0;
constexpr uint32_t AMDGPU_RLCG_GC_READ = 0x1;
constexpr uint32_t AMDGPU_RLCG_MMHUB_WRITE = 0x2;
constexpr uint32_t AMDGPU_RLCG_WRONG_OPERATION_TYPE = 0x2000000;

}  // namespace

Rlcg::Rlcg(const Profile& profile, RegisterFile& registers)
    : ip_(profile.ip(HwId::GC)), registers_(registers) {
    registers_.declare(at(ip_, gc::regRLC_SPARE_INT), 1,
                       {.written = [this](uint32_t, uint32_t value) {
                           if ((value & 1) != 0) {
                               carry_out();
                           }
                       }});
    // The driver puts the new value of GRBM_GFX_CNTL here and does not ring.
    registers_.declare(at(ip_, gc::regSCRATCH_REG2), 1,
                       {.written = [this](uint32_t, uint32_t value) {
                           registers_.write(at(ip_, gc::regGRBM_GFX_CNTL), value);
                       }});
}

void Rlcg::reset(ResetKind) {
    // A virtual function reads this instead of choosing a partition.
    registers_.raw(at(ip_, gc::regCP_HYP_XCP_CTL)) = gc::CP_HYP_XCP_CTL__NUM_XCC_IN_XCP::set(0, 1);
    registers_.raw(at(ip_, gc::regRLC_SPARE_INT)) = 0;
}

void Rlcg::carry_out() {
    if (busy_) {
        return;  // a request for RLC_SPARE_INT itself
    }
    busy_ = true;
    uint32_t& value = registers_.raw(at(ip_, gc::regSCRATCH_REG0));
    const uint32_t request = registers_.raw(at(ip_, gc::regSCRATCH_REG1));
    const uint32_t dword = RLCG_SCRATCH1__ADDRESS::get(request);
    uint32_t error = 0;
    switch (RLCG_SCRATCH1__COMMAND::get(request)) {
        case AMDGPU_RLCG_GC_READ: value = registers_.read(dword); break;
        case AMDGPU_RLCG_GC_WRITE:
        case AMDGPU_RLCG_GC_WRITE_LEGACY:
        case AMDGPU_RLCG_MMHUB_WRITE: registers_.write(dword, value); break;
        default: error = AMDGPU_RLCG_WRONG_OPERATION_TYPE; break;
    }
    registers_.raw(at(ip_, gc::regSCRATCH_REG1)) = error;  // no address left: done
    busy_ = false;
}

}  // namespace gpuemu
