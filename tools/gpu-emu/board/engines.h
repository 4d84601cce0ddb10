// SPDX-License-Identifier: GPL-2.0
// Purpose: everything that executes packets: the compute micro engine of each XCC (MEC, with KIQ,
// KCQ, HIQ and run lists), the graphics micro engine (ME) where there is one, the SDMA instances of
// a profile, and those of VCN with their JPEG decoders, behind the few calls the rest of the GPU
// makes. Thread: device loop only.
// Does not model: shader execution (AQL dispatch packets complete without running), CWSR.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "gpu-emu/ip/doorbell_route.h"
#include "gpu-emu/ip/queue/context.h"

namespace gpuemu {

class Engines {
public:
    explicit Engines(EngineContext context);  // claims its registers
    ~Engines();

    /// A write of `value` to doorbell dword `index`, which goes where `route` says; nothing: to
    /// all. False: no queue owns it.
    bool ring_doorbell(uint32_t index, uint64_t value,
                       const std::optional<DoorbellRoute>& route = {});

    /// All queues gone, as after power-on, FLR or a MODE1 reset.
    void reset();

    /// The SDMA instances whose bits are set, and nothing else.
    void reset_sdma(uint32_t instances);

    /// The VCN instances whose bits are set, and their JPEG decoders with them.
    void reset_vcn(uint32_t instances);

    /// Power of an instance without its JPEG decoders, or of all JPEG decoders.
    void power_vcn(unsigned instance, bool on);
    void power_jpeg(bool on);

    /// VcnEngine::load_sram() of the instance. False: there is none.
    bool load_vcn_sram(unsigned instance, std::span<const uint32_t> pairs);

    /// Lines of "what is mapped where", for the control socket's `status`.
    std::string describe() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace gpuemu
