// SPDX-License-Identifier: GPL-2.0
// Purpose: the graphics micro engine (ME0: PFP, ME and CE) of a GC with a graphics ring: the
// kernel's graphics queues, which the KIQ maps from a v10_gfx_mqd, and their packets.
// Thread: device loop only.
// Does not model: the CP_GFX_HQD registers other than in the MQD (they read as zero, as of a queue
// that is not mapped), CP_RB0 without an MQD (amdgpu.async_gfx_ring=0), draws, the constant engine.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gpu-emu/device/engine.h"
#include "gpu-emu/ip/cp/compute_queue.h"
#include "gpu-emu/ip/cp/pm4_executor.h"
#include "gpu-emu/ip/queue/context.h"
#include "gpu-emu/ip/queue/queue_owner.h"
#include "gpu-emu/ip/queue/unhandled_packets.h"

namespace gpuemu {

class Me : public Engine {
public:
    static constexpr unsigned pipes = 2;
    static constexpr unsigned queues_per_pipe = 2;

    explicit Me(const EngineContext& context);

    Turn run(Budget& budget) override;
    const char* name() const override { return "me"; }

    /// False: no graphics queue has that doorbell.
    bool ring_doorbell(uint32_t index, uint64_t value);

    /// False: there is no such queue or its MQD is out of reach.
    bool map(unsigned pipe, unsigned queue, const MapRequest& request);

    /// Takes queues off; their pointers go back to the MQDs they came from.
    void unmap_queues(const QueueSelector& selected);

    void reset();
    std::string describe() const;
    const UnhandledPackets& unhandled_packets() const { return unhandled_; }

private:
    /// Takes off the queues that CP_VMID_RESET names, in the middle of whatever they run.
    void reset_queues(uint32_t cp_vmid_reset);

    const EngineContext& context_;
    UnhandledPackets unhandled_{"me"};
    std::vector<ComputeQueue> queues_;
    Pm4Executor pm4_;
    size_t next_ = 0;  // queue whose turn it is
};

}  // namespace gpuemu
