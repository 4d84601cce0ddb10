// SPDX-License-Identifier: GPL-2.0
// Purpose: everything that executes packets: the compute micro engine of each XCC (MEC, with KIQ, KCQ, HIQ and run
// lists), the graphics micro engine (ME) where there is one, and the SDMA instances of a profile, behind the few calls
// the rest of the GPU makes.
// Thread: device loop only.
// Does not model: shader execution (AQL dispatch packets complete without running), CWSR.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "gpu-emu/core/engine.h"
#include "gpu-emu/core/mutator.h"
#include "gpu-emu/core/register_file.h"
#include "gpu-emu/ip/interrupt_sink.h"
#include "gpu-emu/mem/gpu_memory.h"
#include "gpu-emu/profiles/profile.h"

namespace gpuemu {

class Engines {
public:
    /// What the engines need of the GPU around them. Everything outlives them.
    struct Context {
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

    explicit Engines(Context context);  // claims its registers
    ~Engines();

    /// A write of `value` to doorbell dword `index`. False: no queue owns it.
    bool ring_doorbell(uint32_t index, uint64_t value);

    /// All queues gone, as after power-on, FLR or a MODE1 reset.
    void reset();

    /// The SDMA instances whose bits are set, and nothing else.
    void reset_sdma(uint32_t instances);

    /// Lines of "what is mapped where", for the control socket's `status`.
    std::string describe() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace gpuemu
