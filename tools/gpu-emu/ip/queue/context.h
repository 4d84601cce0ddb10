// SPDX-License-Identifier: GPL-2.0
// Purpose: what an engine, of the command processor or of SDMA, needs of the GPU around it.
// Thread: device loop only.
#pragma once

#include <cstdint>
#include <functional>

#include "gpu-emu/device/engine.h"
#include "gpu-emu/device/register_file.h"
#include "gpu-emu/hostile/mutator.h"
#include "gpu-emu/ip/interrupt_sink.h"
#include "gpu-emu/mem/gpu_memory.h"
#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

/// What the engines need of the GPU around them. Everything outlives them.
struct EngineContext {
    const Profile& profile;
    RegisterFile& registers;
    GpuMemory& memory;
    InterruptSink& interrupts;
    EngineKicker& kicker;
    std::function<uint64_t()> gpu_clock;  // 100 MHz reference clock counter
    Mutator& mutator;
    uint8_t xcc = 0;  // whose command processor this is, counted as gc_layout() does

    /// The hub of that XCC.
    Hub gfx_hub() const { return {Hub::Kind::gfx, xcc}; }
};

}  // namespace gpuemu
