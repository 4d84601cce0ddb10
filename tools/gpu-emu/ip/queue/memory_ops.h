// SPDX-License-Identifier: GPL-2.0
// Purpose: bulk and atomic memory operations that CP and SDMA packets share. Long ones are done
// piece by piece: `progress` says how much of the packet is done, the budget how much this turn may
// do. A turn always does a piece, so that every budget makes progress. Thread: device loop only.
// Does not model: a retried fault. What cannot be reached is dropped and the packet ends, as
// without XNACK.
#pragma once

#include <cstdint>
#include <optional>

#include "gpu-emu/device/engine.h"
#include "gpu-emu/ip/queue/port.h"
#include "gpu-emu/ip/queue/step.h"

namespace gpuemu {

Step copy_bytes(const Port& port, uint64_t source, uint64_t destination, uint64_t bytes,
                uint64_t& progress, Budget& budget);

/// Fills with a repeated dword, which begins at `destination`.
Step fill_bytes(const Port& port, uint64_t destination, uint32_t pattern, uint64_t bytes,
                uint64_t& progress, Budget& budget);

/// FUNCTION of PACKET3_WAIT_REG_MEM and of SDMA_OP_POLL_REGMEM.
bool compare(uint32_t function, uint32_t value, uint32_t reference);

/// TC_OP_ATOMIC_* of drivers/gpu/drm/amd/include/vega10_enum.h: integer operations, with or without
/// return value.
bool is_integer_atomic(uint32_t tc_op);

/// A loop on this operation is over, given what was found: all are, except a compare and swap that
/// found another value.
bool is_satisfied(uint32_t tc_op, uint64_t old, uint64_t comparand);

/// Carries out an integer atomic seen by CPU and GPU alike; the old value, or nothing on a fault.
std::optional<uint64_t> atomic(const Port& port, uint32_t tc_op, uint64_t address, uint64_t source,
                               uint64_t comparand);

}  // namespace gpuemu
