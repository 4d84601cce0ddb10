// SPDX-License-Identifier: GPL-2.0
// Purpose: one VCN instance without its JPEG decoders: a processor (VCPU) whose firmware fetches
// the rings, its power states, and the rings' packets. Thread: device loop only.
// Does not model: what is encoded or decoded (vcn_sessions.h); whether firmware was loaded before
// the VCPU is let go; the time that it needs to boot and to change power states; accesses to a tile
// that is off, which hang on hardware; clocks, tiling and the LMI.
// Assumed, as nothing but the driver tells: a parked ring does not hold up the others.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu-emu/device/engine.h"
#include "gpu-emu/ip/queue/context.h"
#include "gpu-emu/ip/queue/port.h"
#include "gpu-emu/ip/queue/step.h"
#include "gpu-emu/ip/queue/unhandled_packets.h"
#include "gpu-emu/ip/vcn/vcn_layout.h"
#include "gpu-emu/ip/vcn/vcn_sessions.h"
#include "gpu-emu/ip/vcn/video_ring.h"

namespace gpuemu {

class VcnEngine : public Engine {
public:
    /// Claims its registers. Everything outlives it.
    VcnEngine(const EngineContext& context, const VcnLayout& layout);

    Turn run(Budget& budget) override;
    const char* name() const override { return name_.c_str(); }

    /// False: no ring of this instance has that doorbell.
    bool ring_doorbell(uint32_t index, uint32_t wptr);

    /// The image that DPG loads into the instance whenever it powers up: pairs of a register, as
    /// packets name it, and its value.
    void load_sram(std::span<const uint32_t> pairs);

    /// Off: what runs stops, and all that is not always on forgets.
    void set_power(bool on);

    /// What the host's scheduler does for a virtual function when its tables are carried out: the
    /// ring is where it says, and the VCPU runs.
    void start(uint64_t ring, uint32_t dwords);

    void reset();
    std::string describe() const;
    const UnhandledPackets& unhandled_packets() const { return unhandled_; }
    const VcnSessions& sessions() const { return sessions_; }

private:
    using Packet = std::span<const uint32_t>;

    void claim_power();
    void claim_dpg();
    bool vcpu_runs() const;
    bool paused() const;
    /// Switches the rings on and off as the registers say now.
    void update();
    void write_internal(uint32_t reg, uint32_t value);

    Step step(VideoRing& ring, Budget& budget);
    Step firmware_step(VideoRing& ring, Budget& budget);
    Step execute(VideoRing& ring, Packet packet, Budget& budget);
    Step fence(const VideoRing& ring, uint64_t address, uint32_t value);
    Step trap(const VideoRing& ring);
    Step rbc_step(VideoRing& ring, Budget& budget);
    Step fetch_failed(VideoRing& ring);
    Step rbc_write(VideoRing& ring, uint32_t reg, uint32_t value);
    Step gpcom(const VideoRing& ring, uint32_t command);
    Step write_register(const VideoRing& ring, uint32_t address, uint32_t value);
    Step wait_register(const VideoRing& ring, uint32_t address, uint32_t value, uint32_t mask);
    bool may_reach_registers(const VideoRing& ring, uint8_t opcode);
    Port port(const VideoRing& ring) const;
    uint32_t& raw(uint32_t dword) const { return context_.registers.raw(dword); }

    const EngineContext& context_;
    const VcnLayout layout_;
    std::string name_;
    UnhandledPackets unhandled_;
    VcnSessions sessions_{unhandled_};
    std::vector<VideoRing> rings_;
    std::size_t next_ = 0;  // ring whose turn it is
    std::optional<PacketStream::Ib> enter_behind_;
};

}  // namespace gpuemu
