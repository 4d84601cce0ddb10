// SPDX-License-Identifier: GPL-2.0
// Purpose: AQL, the packets of user mode queues (HSA System Architecture 1.2, section 2.9; AMD's
// vendor packets as in ROCr's amd_hsa_kernel_code / hsa_ext_amd.h): barriers, signals, and PM4
// buffers called from an AQL queue. Thread: device loop only. Does not model: dispatch. Kernel and
// agent dispatch packets complete without running anything. Acquire and release fences (memory is
// always coherent here).
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "gpu-emu/device/engine.h"
#include "gpu-emu/ip/queue/context.h"
#include "gpu-emu/ip/queue/step.h"
#include "gpu-emu/ip/queue/unhandled_packets.h"

namespace gpuemu {

class ComputeQueue;
struct Port;

namespace aql {

inline constexpr uint32_t packet_dwords = 16;
inline constexpr uint64_t packet_bytes = packet_dwords * 4;

enum PacketType : uint8_t {
    VENDOR_SPECIFIC = 0,
    INVALID = 1,
    KERNEL_DISPATCH = 2,
    BARRIER_AND = 3,
    AGENT_DISPATCH = 4,
    BARRIER_OR = 5,
};

/// AmdFormat of a vendor specific packet: byte 2.
enum AmdFormat : uint8_t {
    AMD_AQL_FORMAT_PM4_IB = 1,
    AMD_AQL_FORMAT_BARRIER_VALUE = 2,
};

using Packet = std::array<uint32_t, packet_dwords>;

/// Fields of an amd_signal_t, as byte offsets.
enum SignalField : uint64_t {
    SIGNAL_VALUE = 8,
    SIGNAL_EVENT_MAILBOX_PTR = 16,
    SIGNAL_EVENT_ID = 24,
    SIGNAL_START_TS = 32,
    SIGNAL_END_TS = 40,
};

}  // namespace aql

class AqlExecutor {
public:
    AqlExecutor(const EngineContext& context, UnhandledPackets& unhandled)
        : context_(context), unhandled_(unhandled) {}

    /// One packet at the front of the queue. A PM4 buffer in it is entered; the packet is over when
    /// complete() is called.
    Step step(ComputeQueue& queue, Budget& budget);

    /// The front packet is done: signal it, mark its slot invalid, go on.
    void complete(ComputeQueue& queue);

private:
    Step execute(ComputeQueue& queue, const aql::Packet& packet);
    Step barrier(const ComputeQueue& queue, const aql::Packet& packet, bool all);
    Step barrier_value(const ComputeQueue& queue, const aql::Packet& packet);
    Step vendor_specific(ComputeQueue& queue, const aql::Packet& packet);
    void signal(const ComputeQueue& queue, uint64_t handle);

    const EngineContext& context_;
    UnhandledPackets& unhandled_;
};

}  // namespace gpuemu
