// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/device/engine_scheduler.h"

#include <algorithm>

namespace gpuemu {

using Clock = hp::EventLoop::Clock;

void EngineScheduler::kick(Engine& engine) {
    thread_.check();
    const auto found = std::find_if(active_.begin(), active_.end(),
                                    [&](const Entry& entry) { return entry.engine == &engine; });
    if (found == active_.end()) {
        active_.push_back({.engine = &engine, .kicked = true, .waits_since = {}});
        if (begins_late(engine)) {
            active_.back().waits_since = Clock::now();
        }
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
        if (is_late(active_[i])) {
            continue;
        }
        active_[i].waits_since.reset();
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
    const auto any = [this](bool late) {
        return std::any_of(active_.begin(), active_.end(), [this, late](const Entry& entry) {
            return entry.kicked && entry.waits_since.has_value() == late && may_run(*entry.engine);
        });
    };
    if (pause_ == Pause::all) {
        return Idle::done;
    }
    return any(false) ? Idle::more : any(true) ? Idle::parked : result;
}

bool EngineScheduler::begins_late(const Engine& engine) const {
    return lateness_.count() != 0 && !engine.outlives_a_hang() &&
           std::string_view(engine.name()).starts_with(late_names_);
}

bool EngineScheduler::is_late(const Entry& entry) const {
    return entry.waits_since && Clock::now() - *entry.waits_since < lateness_;
}

bool EngineScheduler::may_run(const Engine& engine) const {
    return pause_ == Pause::none || (pause_ == Pause::hung && engine.outlives_a_hang());
}

}  // namespace gpuemu
