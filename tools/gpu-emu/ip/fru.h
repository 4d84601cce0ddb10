// SPDX-License-Identifier: GPL-2.0
// Purpose: the contents of the FRU EEPROM: IPMI Platform Management FRU Information Storage
// Definition, a common header and the product info area, the part that amdgpu_fru_eeprom.c reads.
// Thread: values.
// Does not model: chassis, board, internal use and multi-record areas.
#pragma once

#include <cstddef>
#include <vector>

#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

/// Throws std::length_error when a field or the area does not fit its length byte (start-up).
std::vector<std::byte> build_fru_image(const ProductInfo& product);

}  // namespace gpuemu
