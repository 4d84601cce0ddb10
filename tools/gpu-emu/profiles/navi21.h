// SPDX-License-Identifier: GPL-2.0
// Purpose: AMD Radeon PRO V620 (Navi 21, gfx 10.3.0): a board with graphics rings and without a
// display.
// Thread: immutable after construction.
// Does not model: display (not in the IP list, so that the driver does not look for it), its
// virtual functions, the HDMI audio function of its siblings.
#pragma once

#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

Profile make_navi21();

}  // namespace gpuemu
