// SPDX-License-Identifier: GPL-2.0
// Purpose: one SDMA 4.4.2 or 5.2 instance: its queues (GFX, PAGE, RLC0..7) and the execution of
// their packets. Thread: device loop only. Does not model: tiled, sub-window, broadcast, physical
// and dirty-page copies, PTE copies, semaphores (each counted and skipped at its full length);
// endian swaps; SDMA_CNTL.TRAP_ENABLE; a parked queue does not hold up the others.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu-emu/device/engine.h"
#include "gpu-emu/ip/queue/context.h"
#include "gpu-emu/ip/queue/port.h"
#include "gpu-emu/ip/queue/queue_owner.h"
#include "gpu-emu/ip/queue/step.h"
#include "gpu-emu/ip/queue/unhandled_packets.h"
#include "gpu-emu/ip/sdma/sdma_layout.h"
#include "gpu-emu/ip/sdma/sdma_packets.h"
#include "gpu-emu/ip/sdma/sdma_queue.h"

namespace gpuemu {

class SdmaEngine : public Engine {
public:
    /// Claims its registers.
    SdmaEngine(const EngineContext& context, unsigned instance, const SdmaLayout& layout);

    Turn run(Budget& budget) override;
    const char* name() const override { return name_.c_str(); }

    /// False: no queue of this instance has that doorbell.
    bool ring_doorbell(uint32_t index, uint64_t value);

    /// Maps a user's queue into a free RLC slot. False: none is free or its MQD is out of reach.
    bool map_queue(const MapRequest& request);
    void unmap_queues(const QueueSelector& selected);

    /// All queues gone, all registers zero, as after power-on or the reset of this engine alone.
    void reset();
    std::string describe() const;
    const UnhandledPackets& unhandled_packets() const { return unhandled_; }

private:
    using Packet = std::span<const uint32_t>;

    Step step(SdmaQueue& queue, Budget& budget);
    Step execute(SdmaQueue& queue, Packet packet, uint32_t payload_dwords, Budget& budget);
    Step fetch_failed(SdmaQueue& queue);

    // Handlers, each named after its SDMA_OP_*.
    Step fence(const SdmaQueue& queue, Packet packet);
    Step copy(SdmaQueue& queue, Packet packet, Budget& budget);
    Step write(SdmaQueue& queue, Packet packet, uint32_t payload_dwords, Budget& budget);
    Step indirect(SdmaQueue& queue, Packet packet);
    Step trap(const SdmaQueue& queue, Packet packet);
    Step poll_regmem(SdmaQueue& queue, Packet packet);
    Step vm_invalidation(const SdmaQueue& queue, Packet packet);
    Step cond_exe(const SdmaQueue& queue, Packet packet);
    Step atomic_op(const SdmaQueue& queue, Packet packet);
    Step const_fill(SdmaQueue& queue, Packet packet, Budget& budget);
    Step ptepde(SdmaQueue& queue, Packet packet, Budget& budget);
    Step timestamp(const SdmaQueue& queue, Packet packet);
    Step srbm_write(const SdmaQueue& queue, Packet packet);

    Step unsupported(Packet packet);
    Port port(const SdmaQueue& queue) const;
    void claim(SdmaQueue& queue);
    bool idle() const;

    const EngineContext& context_;
    SdmaLayout layout_;
    std::string name_;
    UnhandledPackets unhandled_;
    std::vector<SdmaQueue> queues_;
    size_t next_ = 0;  // queue whose turn it is

    /// What the packet in execution asks to be skipped or entered behind itself.
    uint32_t skip_behind_ = 0;
    std::optional<PacketStream::Ib> enter_behind_;
};

}  // namespace gpuemu
