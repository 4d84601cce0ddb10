// SPDX-License-Identifier: GPL-2.0
// Purpose: how a register is named: segment and offset from the kernel's *_offset.h headers,
// resolved against the base addresses of a profile. Constants carry the hardware's own names and
// live in ip/regs/<ip>_<version>.h; only registers that the model gives a meaning are listed.
// Thread: values.
#pragma once

#include <cstdint>

#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

/// `reg...` and `reg..._BASE_IDX` of the kernel's headers.
struct Reg {
    uint32_t offset;
    uint8_t base_idx;
};

/// Dword address of `reg` in that instance of the IP.
inline uint32_t at(const IpInstance& ip, Reg reg) {
    return ip.bases.at(reg.base_idx) + reg.offset;
}

/// A field of a register: value >> shift & mask, as NAME__FIELD__SHIFT and _MASK of the kernel's
/// *_sh_mask.h.
template <unsigned High, unsigned Low>
struct Field {
    static constexpr uint32_t mask =
        (High - Low == 31) ? ~0u : ((1u << (High - Low + 1)) - 1) << Low;
    static constexpr uint32_t get(uint32_t value) { return (value & mask) >> Low; }
    static constexpr uint32_t set(uint32_t value, uint32_t field) {
        return (value & ~mask) | ((field << Low) & mask);
    }
};

}  // namespace gpuemu
