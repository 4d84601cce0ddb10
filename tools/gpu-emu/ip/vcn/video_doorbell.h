// SPDX-License-Identifier: GPL-2.0
// Purpose: where a ring of VCN or JPEG finds out which doorbell is its own: VCN 4 and 5 have a
// register for each ring, VCN 3 counts from the start of a range that NBIO keeps. Thread: values.
#pragma once

#include <cstdint>
#include <optional>

#include "gpu-emu/device/register_file.h"
#include "gpu-emu/ip/regs/nbio_2_3.h"
#include "gpu-emu/ip/regs/vcn_4_0_3.h"

namespace gpuemu {

struct VideoDoorbell {
    enum class Kind { own, place_in_range };

    Kind kind;
    uint32_t dword;      // VCN_*_DB_CTRL, or BIF_MMSCH*_DOORBELL_RANGE
    uint32_t place = 0;  // in the range

    /// Dword index in the doorbell BAR; nothing: the ring has none.
    std::optional<uint32_t> index(const RegisterFile& registers) const {
        const uint32_t value = registers.raw(dword);
        if (kind == Kind::own) {
            return vcn_4_0_3::VCN_DB_CTRL__EN::get(value) != 0
                       ? std::optional(vcn_4_0_3::VCN_DB_CTRL__OFFSET::get(value))
                       : std::nullopt;
        }
        return place < nbio_2_3::BIF_DOORBELL_RANGE__SIZE::get(value)
                   ? std::optional(nbio_2_3::BIF_DOORBELL_RANGE__OFFSET::get(value) + place)
                   : std::nullopt;
    }
};

}  // namespace gpuemu
