// SPDX-License-Identifier: GPL-2.0
// Purpose: all compute queues with their HQD registers: the register window, mapping from an MQD,
// taking off. Thread: device loop only. Does not model: context save of waves (no waves run), wptr
// polling other than when a queue is mapped or asked once (regCP_PQ_WPTR_POLL_CNTL1); the driver
// switches continuous polling off.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu-emu/ip/cp/compute_queue.h"
#include "gpu-emu/ip/cp/hqd_bank.h"
#include "gpu-emu/ip/queue/context.h"

namespace gpuemu {

class ComputeSlots {
public:
    explicit ComputeSlots(const EngineContext& context);

    /// The HQD window of the selected queue.
    uint32_t first_dword() const { return bank_.first_dword(); }
    uint32_t read(uint32_t dword);
    void write(uint32_t dword, uint32_t value);

    /// regCP_PQ_WPTR_POLL_CNTL1: read the write pointer of these queues (bits from ME1 on) from
    /// memory, now or when they are activated.
    void poll_wptr(uint32_t mask);

    /// regCP_MEC_CNTL: queues of pipes in reset are gone.
    void reset_pipes(uint32_t cp_mec_cntl);

    /// False: the slot is not the MEC's or the MQD is out of reach.
    bool map(unsigned slot, const MapRequest& request);

    /// Takes a queue off; its state goes to the MQD it came from.
    void unmap(unsigned slot);

    /// The queues of both micro engines (ME1, ME2).
    std::span<ComputeQueue> queues();
    std::span<const ComputeQueue> queues() const;
    ComputeQueue& queue(unsigned slot) { return queues_.at(slot); }

    /// Counts activations: who goes through the queues sees whether one came meanwhile.
    uint32_t activations() const { return activations_; }

    void reset();

private:
    static bool is_mec(unsigned slot);
    void activate(unsigned slot, const QueueOwner& owner);
    void deactivate(unsigned slot);

    /// An HQD without a queue has no pointers: the driver copies them into the next MQD that it
    /// makes for the slot.
    void vacate(unsigned slot);
    std::optional<uint64_t> polled_wptr(unsigned slot);

    const EngineContext& context_;
    HqdBank bank_;
    std::vector<ComputeQueue> queues_;
    uint32_t poll_at_activation_ = 0;
    uint32_t activations_ = 0;
};

}  // namespace gpuemu
