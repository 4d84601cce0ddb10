// SPDX-License-Identifier: GPL-2.0
// Purpose: of the RLC of an XCC the few registers the driver waits for or reads: safe mode, the GPU
// clock counter, and that the RLC has loaded the firmware of the others. Thread: device loop only.
// Does not model: power gating, save and restore lists, SPM.
#pragma once

#include <cstdint>
#include <functional>

#include "gpu-emu/device/register_file.h"
#include "gpu-emu/ip/gc_layout.h"
#include "gpu-emu/ip/ip_block.h"

namespace gpuemu {

class Rlc : public IpBlock {
public:
    /// `fuses`: see fuse_type().
    Rlc(GcLayout gc, RegisterType fuses, RegisterFile& registers,
        std::function<uint64_t()> gpu_clock);

    void reset(ResetKind kind) override;

private:
    void capture_clock();

    GcLayout gc_;
    RegisterFile& registers_;
    std::function<uint64_t()> gpu_clock_;
};

}  // namespace gpuemu
