// SPDX-License-Identifier: GPL-2.0
// Purpose: the MI300X profiles: bare metal, the same in a hive, and SR-IOV virtual function.
// Thread: immutable after construction.
// Does not model: more than one XCC and one AID; VRAM has 1 GiB instead of 192.
#pragma once

#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

Profile make_mi300x();
Profile make_mi300x_hive();
Profile make_mi300x_vf();

}  // namespace gpuemu
