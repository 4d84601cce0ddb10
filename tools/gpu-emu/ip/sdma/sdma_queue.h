// SPDX-License-Identifier: GPL-2.0
// Purpose: one queue of an SDMA instance (GFX, PAGE or RLCn): its registers, which are its whole
// state while it is not running, and its stream. Thread: device loop only. Does not model:
// regSDMA_*_MINOR_PTR_UPDATE, watermarks, wptr polling (the driver rings doorbells as well).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "gpu-emu/device/register_file.h"
#include "gpu-emu/hostile/mutator.h"
#include "gpu-emu/ip/queue/packet_stream.h"
#include "gpu-emu/ip/queue/port.h"
#include "gpu-emu/ip/queue/queue_owner.h"
#include "gpu-emu/ip/regs/sdma_4_4_2.h"

namespace gpuemu {

class SdmaQueue {
public:
    /// `first_dword`: its RB_CNTL. `ring_id`: of its interrupts.
    SdmaQueue(RegisterFile& registers, uint32_t first_dword, Hub hub, std::string name,
              uint8_t ring_id)
        : registers_(registers),
          first_dword_(first_dword),
          hub_(hub),
          name_(std::move(name)),
          ring_id_(ring_id) {}

    /// A register was written by the driver.
    void written(uint32_t dword);

    /// True: the doorbell is this queue's. A queue that is not enabled takes the value along for
    /// later.
    bool ring(uint32_t doorbell, uint64_t wptr_bytes);

    /// A user's queue, from its v9_sdma_mqd or v10_sdma_mqd. False: the MQD is out of reach.
    bool map(GpuMemory& memory, const MapRequest& request);

    /// Stops; a mapped queue's pointers go back to its MQD.
    void unmap(GpuMemory& memory);

    /// Read pointer to register and memory, if it changed.
    void report_rptr(GpuMemory& memory, Mutator& mutator);

    /// Stops, nothing is saved for anybody; the engine clears the registers.
    void reset() { stop(); }

    bool active() const { return active_; }
    bool has_work() const { return active_ && !stream.empty(); }
    unsigned vmid() const;
    std::optional<uint32_t> doorbell() const;
    const QueueOwner& owner() const { return owner_; }
    const std::string& name() const { return name_; }
    uint8_t ring_id() const { return ring_id_; }
    uint32_t first_dword() const { return first_dword_; }

    /// Changes whenever the queue is started or stopped.
    uint32_t epoch() const { return epoch_; }

    PacketStream stream;
    uint64_t progress = 0;  // of the packet at the front

private:
    uint32_t reg(sdma_4_4_2::QueueReg reg) const { return registers_.raw(first_dword_ + reg); }
    uint64_t pair(sdma_4_4_2::QueueReg low) const { return registers_.raw64(first_dword_ + low); }
    void set(sdma_4_4_2::QueueReg reg, uint32_t value) {
        registers_.raw(first_dword_ + reg) = value;
    }
    void set_pair(sdma_4_4_2::QueueReg low, uint64_t value);
    void start();
    void stop();
    void place_ring();

    RegisterFile& registers_;
    uint32_t first_dword_;
    Hub hub_;
    std::string name_;
    uint8_t ring_id_;
    bool active_ = false;
    uint64_t reported_ = 0;
    QueueOwner owner_;
    uint32_t epoch_ = 0;
};

}  // namespace gpuemu
