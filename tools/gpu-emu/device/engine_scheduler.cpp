// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/device/engine_scheduler.h"

#include <algorithm>

namespace gpuemu {

void EngineScheduler::kick(Engine& engine) {
    thread_.check();
    const auto found = std::find_if(active_.begin(), active_.end(),
                                    [&](const Entry& entry) { return entry.engine == &engine; });
    if (found == active_.end()) {
        active_.push_back({.engine = &engine, .kicked = true});
    } else {
        found->kicked = true;
    }
}

hp::EventLoop::Idle EngineScheduler::turn() {
    thread_.check();
    using Idle = hp::EventLoop::Idle;
    Idle result = Idle::done;
    // By index and only those that are here now: an engine may kick others (and itself), and that
    // is for the next turn.
    const size_t count = active_.size();
    for (size_t i = 0; i < count; ++i) {
        Engine* engine = active_[i].engine;
        if (!may_run(*engine)) {
            continue;
        }
        active_[i].kicked = false;
        Budget budget;
        const Engine::Turn turn = engine->run(budget);
        if (turn == Engine::Turn::more) {
            active_[i].kicked = true;
        } else if (turn == Engine::Turn::parked) {
            result = Idle::parked;
        } else if (!active_[i].kicked) {
            active_[i].engine = nullptr;
        }
    }
    std::erase_if(active_, [](const Entry& entry) { return entry.engine == nullptr; });
    const bool more = std::any_of(active_.begin(), active_.end(), [this](const Entry& entry) {
        return entry.kicked && may_run(*entry.engine);
    });
    if (pause_ == Pause::all) {
        return Idle::done;
    }
    return more ? Idle::more : result;
}

bool EngineScheduler::may_run(const Engine& engine) const {
    return pause_ == Pause::none || (pause_ == Pause::hung && engine.outlives_a_hang());
}

}  // namespace gpuemu
