// SPDX-License-Identifier: GPL-2.0
// Purpose: the compute micro engine: runs all compute queues of an XCC in turn. One engine for both
// MEs: their queues share nothing but the turn. Thread: device loop only. Does not model: MEC
// firmware start-up and halt, CP_ME1_PIPEn_INT_CNTL (interrupts are always enabled).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "gpu-emu/device/engine.h"
#include "gpu-emu/ip/cp/aql.h"
#include "gpu-emu/ip/cp/compute_slots.h"
#include "gpu-emu/ip/cp/hws.h"
#include "gpu-emu/ip/cp/pm4_executor.h"
#include "gpu-emu/ip/cp/xcc_group.h"
#include "gpu-emu/ip/queue/context.h"
#include "gpu-emu/ip/queue/unhandled_packets.h"

namespace gpuemu {

class Mec : public Engine {
public:
    /// `me`, if there is one, and `sdma`, all of them: whose queues the scheduler maps. They and
    /// `xccs` outlive the MEC, which joins them.
    Mec(const EngineContext& context, XccGroup& xccs, Me* me,
        std::span<SdmaEngine* const> sdma);  // claims its registers

    Turn run(Budget& budget) override;
    const char* name() const override { return name_.c_str(); }

    /// False: no compute queue has that doorbell.
    bool ring_doorbell(uint32_t index, uint64_t value);

    void reset();
    std::string describe() const;
    const UnhandledPackets& unhandled_packets() const { return unhandled_; }

private:
    void claim_registers();
    bool in_range(uint32_t doorbell) const;
    Step step(ComputeQueue& queue, Budget& budget);
    Step carry_out(ComputeQueue& queue, Budget& budget);

    const EngineContext& context_;
    XccGroup& xccs_;
    std::string name_;  // with the number of the XCC, if there are several
    UnhandledPackets unhandled_;
    ComputeSlots slots_;
    Hws hws_;
    Pm4Executor pm4_;
    AqlExecutor aql_;
    size_t next_ = 0;  // queue whose turn it is
};

}  // namespace gpuemu
