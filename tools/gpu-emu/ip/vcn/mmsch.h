// SPDX-License-Identifier: GPL-2.0
// Purpose: MMSCH, the scheduler of VCN that belongs to the host of a virtual function: carries out
// the tables of register writes with which a guest sets up its instance, and starts it.
// Thread: device loop only.
// Does not model: other functions beside this one; what of a table is not the guest's to write (all
// is taken); indirect writes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "gpu-emu/ip/queue/context.h"
#include "gpu-emu/ip/vcn/jpeg_engine.h"
#include "gpu-emu/ip/vcn/vcn_engine.h"
#include "gpu-emu/ip/vcn/vcn_layout.h"

namespace gpuemu {

class Mmsch {
public:
    /// Claims its registers; `layout` has an MMSCH. Everything outlives it.
    Mmsch(const EngineContext& context, const VcnLayout& layout, VcnEngine& vcn, JpegEngine& jpeg);

    /// Sets the doorbells of the instance, which are the host's to assign.
    void reset();

private:
    using Table = std::span<const uint32_t>;

    void mailbox(uint32_t command);
    uint32_t carry_out();
    bool run(Table table, uint32_t offset);
    void start_vcn();
    uint32_t& raw(uint32_t dword) const { return context_.registers.raw(dword); }

    const EngineContext& context_;
    const MmschLayout layout_;
    const VideoPlace place_;
    const std::vector<JpegCoreLayout> cores_;
    VcnEngine& vcn_;
    JpegEngine& jpeg_;
};

}  // namespace gpuemu
