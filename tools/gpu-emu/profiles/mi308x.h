// SPDX-License-Identifier: GPL-2.0
// Purpose: AMD Instinct MI308X: four XCCs that are joined to one, two or four compute partitions.
// Thread: immutable after construction.
// Does not model: memory partitions (NPS1 only), XGMI links; VRAM has 4 GiB instead of 192.
#pragma once

#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

Profile make_mi308x();

}  // namespace gpuemu
