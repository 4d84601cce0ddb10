// SPDX-License-Identifier: GPL-2.0
// Purpose: from a register's address back to its name in the kernel's headers, for traces and
// logs.
// Thread: immutable after construction.
// Does not model: registers without a meaning in the model: they have no name here.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

class RegisterNames {
public:
    explicit RegisterNames(const Profile& profile);

    /// Empty when the register has no name.
    std::string name(uint32_t dword) const;

private:
    std::unordered_map<uint32_t, std::string> names_;
};

}  // namespace gpuemu
