// SPDX-License-Identifier: GPL-2.0
// Purpose: the JPEG decoders of a VCN instance: each a JRBC that fetches a ring of its own, with
// registers of its own that only its packets see. Thread: device loop only.
// Does not model: any picture; timers of conditional reads (a condition is waited for without end);
// conditional reads of memory, which are passed; the encoder's ring of VCN 3.
// Assumed, as nothing but the driver tells: conditions 0 and 3 both ask for equality under the
// mask; a write to memory stores GPCOM_DATA0.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu-emu/device/engine.h"
#include "gpu-emu/ip/queue/context.h"
#include "gpu-emu/ip/queue/step.h"
#include "gpu-emu/ip/queue/unhandled_packets.h"
#include "gpu-emu/ip/vcn/vcn_layout.h"
#include "gpu-emu/ip/vcn/video_ring.h"

namespace gpuemu {

class JpegEngine : public Engine {
public:
    /// Claims its registers. Everything outlives it.
    JpegEngine(const EngineContext& context, const JpegLayout& layout);

    Turn run(Budget& budget) override;
    const char* name() const override { return name_.c_str(); }

    /// False: no decoder of this instance has that doorbell.
    bool ring_doorbell(uint32_t index, uint32_t wptr);

    /// What the host's scheduler does for a virtual function: the ring of a decoder begins where
    /// its registers say, and is fetched.
    void start(unsigned core);

    /// All decoders, as after power-on.
    void reset();
    std::string describe() const;
    const UnhandledPackets& unhandled_packets() const { return unhandled_; }

private:
    static constexpr uint32_t first_internal = 0x4000, internal_dwords = 0x400;

    struct Core {
        Core(RegisterFile& registers, const JpegCoreLayout& core_layout)
            : layout(core_layout), ring(registers, core_layout.ring) {}

        // What take_turns() wants of a queue.
        bool has_work() const { return ring.has_work(); }
        void report_rptr(GpuMemory& memory, Mutator& mutator) { ring.report_rptr(memory, mutator); }

        JpegCoreLayout layout;
        VideoRing ring;
        uint32_t external_reg = 0;                          // bytes
        std::array<uint32_t, internal_dwords> registers{};  // that nobody else sees
    };

    void claim(Core& core);
    void reset(Core& core);
    void update();
    Step step(Core& core, Budget& budget);
    Step execute(Core& core, uint32_t header, uint32_t value);
    Step write(Core& core, uint32_t reg, uint32_t value);
    Step wait(Core& core, uint32_t header, uint32_t mask);
    Step write_memory(Core& core);
    Step trap(const Core& core);
    uint32_t read_internal(const Core& core, uint32_t reg) const;
    bool may_reach_registers(const Core& core);
    uint32_t& raw(uint32_t dword) const { return context_.registers.raw(dword); }

    const EngineContext& context_;
    const JpegLayout layout_;
    std::string name_;
    UnhandledPackets unhandled_;
    std::vector<Core> cores_;
    std::size_t next_ = 0;  // decoder whose turn it is
    std::optional<PacketStream::Ib> enter_behind_;
};

}  // namespace gpuemu
