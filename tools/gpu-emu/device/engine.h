// SPDX-License-Identifier: GPL-2.0
// Purpose: how command processors run. All engines share the device loop with the socket: after
// every message, and when nothing else is to do, the scheduler gives each engine that has work a
// bounded turn. A wait inside an engine (a packet whose condition does not hold) is a parked turn,
// retried later, never a sleep. Thread: device loop only, so that the order of accesses is a
// function of the messages: a run can be repeated.
#pragma once

#include <cstdint>

namespace gpuemu {

/// What a turn may spend. Counted in packets and bytes, not in time, so that a run can be repeated
/// exactly. Whatever else a packet brings about, as the effects of registers, is charged as
/// packets.
struct Budget {
    int packets = 64;
    int64_t bytes = 1 << 20;

    bool spent() const { return packets <= 0 || bytes <= 0; }
};

class Engine {
public:
    enum class Turn {
        idle,    // nothing to do until somebody kicks it
        more,    // budget spent, work left
        parked,  // waits for memory or a register to change; poll me
    };

    virtual ~Engine() = default;

    /// Works until idle, parked or out of budget. Everything it was doing is in members: the next
    /// turn goes on there.
    virtual Turn run(Budget& budget) = 0;
    virtual const char* name() const = 0;
    /// Firmware on a processor of its own, which goes on while the engines of a GPU hang.
    virtual bool outlives_a_hang() const { return false; }
};

/// Where an engine says that it has work. Implemented by EngineScheduler
/// (device/engine_scheduler.h).
class EngineKicker {
public:
    virtual ~EngineKicker() = default;
    virtual void kick(Engine& engine) = 0;
};

}  // namespace gpuemu
