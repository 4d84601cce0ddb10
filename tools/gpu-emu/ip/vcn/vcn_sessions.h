// SPDX-License-Identifier: GPL-2.0
// Purpose: what the firmware of VCN reads in the buffers that it is given: the packages of an
// indirect buffer and the messages of the decoder, from which it knows who opens and closes a
// session. Thread: device loop only.
// Does not model: any picture. A buffer to encode or decode is read and over; what it would
// write (a bitstream, a picture, feedback) is not written. Checksums are not compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>

#include "gpu-emu/device/engine.h"
#include "gpu-emu/ip/queue/packet_stream.h"
#include "gpu-emu/ip/queue/port.h"
#include "gpu-emu/ip/queue/step.h"
#include "gpu-emu/ip/queue/unhandled_packets.h"

namespace gpuemu {

class VcnSessions {
public:
    explicit VcnSessions(UnhandledPackets& unhandled) : unhandled_(unhandled) {}

    /// Reads a buffer of packages. `progress` counts its dwords; the budget pays for each package.
    /// `names_engine`: the buffer says itself whether it is to encode or to decode.
    Step run(const Port& port, const PacketStream::Ib& ib, bool names_engine, uint64_t& progress,
             Budget& budget);

    /// A message to the decoder.
    void message(const Port& port, uint64_t address);

    void clear();

    std::size_t open() const { return open_.size(); }

private:
    /// Firmware has room for few; a guest may open any number.
    static constexpr std::size_t most_sessions = 256;

    void package(const Port& port, uint64_t address, uint32_t id, uint32_t bytes);
    void open(uint32_t handle);

    UnhandledPackets& unhandled_;
    std::set<uint32_t> open_;
    bool decodes_ = false;  // the buffer that is being read
    uint32_t encoder_ = 0;  // handle of its session
};

}  // namespace gpuemu
