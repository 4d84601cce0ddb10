// SPDX-License-Identifier: GPL-2.0
// Purpose: what every fuzzer of a packet engine does with it: turns until it is idle or waits for
// something that will not come, none of which may spend much more than its budget. Thread:
// single-threaded.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "gpu-emu/device/engine.h"

namespace gpuemu::fuzz {

/// `slack`: bytes that one packet may take more than its budget. `between()` is called after each
/// turn.
template <typename Between>
void run_bounded(Engine& engine, int64_t slack, Between between) {
    constexpr int turns = 100;
    constexpr int parked_turns = 3;
    for (int turn = 0, parked = 0; turn < turns; ++turn) {
        Budget budget{.packets = 8, .bytes = 4096};
        const Engine::Turn result = engine.run(budget);
        if (budget.packets < 0 || budget.bytes < -slack) {
            std::abort();
        }
        between();
        if (result == Engine::Turn::idle ||
            (result == Engine::Turn::parked && ++parked == parked_turns)) {
            break;
        }
    }
}

inline void run_bounded(Engine& engine, int64_t slack) {
    run_bounded(engine, slack, [] {});
}

}  // namespace gpuemu::fuzz
