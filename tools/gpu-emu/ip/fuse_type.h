// SPDX-License-Identifier: GPL-2.0
// Purpose: what a board does with a write to a fuse, a strap or the size of its memory.
// Thread: pure functions.
#pragma once

#include "gpu-emu/device/register_type.h"
#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

/// Assumed: they cannot be written. No driver does, firmware set them before it came.
inline RegisterType fuse_type(const Profile& profile) {
    return profile.opposites.has(Opposite::writable_fuses) ? RegisterType{} : read_only;
}

}  // namespace gpuemu
