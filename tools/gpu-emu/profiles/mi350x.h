// SPDX-License-Identifier: GPL-2.0
// Purpose: AMD Instinct MI350X (gfx 9.5.0), with one XCC on one AID.
// Thread: immutable after construction.
// Does not model: the other seven XCCs and three AIDs, memory partitions, XGMI links; VRAM has 1
// GiB instead of 288.
#pragma once

#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

Profile make_mi350x();

}  // namespace gpuemu
