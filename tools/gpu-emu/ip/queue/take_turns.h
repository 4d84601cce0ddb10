// SPDX-License-Identifier: GPL-2.0
// Purpose: how the queues of one engine share its turn: round robin, each as long as it has work
// and the budget lasts. Thread: device loop only.
#pragma once

#include <cstddef>
#include <span>

#include "gpu-emu/device/engine.h"
#include "gpu-emu/hostile/mutator.h"
#include "gpu-emu/ip/queue/step.h"
#include "gpu-emu/mem/gpu_memory.h"

namespace gpuemu {

/// `step(queue)` executes the packet at the front of a queue. `next` is kept by the caller: the
/// queue whose turn it is.
template <typename Queue, typename StepOf>
Engine::Turn take_turns(std::span<Queue> queues, std::size_t& next, const Budget& budget,
                        GpuMemory& memory, Mutator& mutator, StepOf step) {
    using Turn = Engine::Turn;
    const auto run = [&](Queue& queue) {
        while (queue.has_work()) {
            if (budget.spent()) {
                return Turn::more;
            }
            if (const Step result = step(queue); result != Step::done) {
                return result == Step::wait ? Turn::parked : Turn::more;
            }
        }
        return Turn::idle;
    };
    Turn result = Turn::idle;
    for (std::size_t visited = 0; visited < queues.size(); ++visited) {
        Queue& queue = queues[next];
        if (queue.has_work()) {
            if (budget.spent()) {
                return Turn::more;
            }
            const Turn turn = run(queue);
            queue.report_rptr(memory, mutator);
            result = turn == Turn::more || result == Turn::idle ? turn : result;
        }
        next = (next + 1) % queues.size();
    }
    return result;
}

}  // namespace gpuemu
