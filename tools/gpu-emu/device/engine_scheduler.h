// SPDX-License-Identifier: GPL-2.0
// Purpose: gives engines that have work their turns on the device loop.
// Thread: device loop only.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu-emu/device/engine.h"
#include "lib/event_loop.h"
#include "lib/thread_rule.h"

namespace gpuemu {

class EngineScheduler : public EngineKicker {
public:
    /// `engine` gets a turn soon, and must live as long as turns are given.
    void kick(Engine& engine) override;

    /// One bounded turn for each engine that has work. Meant as the loop's idle work, whose answers
    /// these are.
    hp::EventLoop::Idle turn();

    enum class Pause {
        none,
        hung,  // only those run that outlive a hang
        all,
    };
    /// Who does not run may be kicked all the same: that is remembered.
    void set_pause(Pause pause) { pause_ = pause; }
    Pause pause() const { return pause_; }

    /// From now on an engine begins that much later than it could with what it is kicked for, and
    /// so are its fences, and the preemptions that it is asked for, late. The firmware that
    /// outlives a hang is not, nor is an engine whose name does not begin with `names`.
    void set_lateness(std::chrono::microseconds lateness, std::string_view names = {}) {
        lateness_ = lateness;
        late_names_ = names;
    }

private:
    struct Entry {
        Engine* engine;
        bool kicked;                                                  // since its last turn began
        std::optional<hp::EventLoop::Clock::time_point> waits_since;  // late: has not begun
    };

    bool may_run(const Engine& engine) const;
    bool begins_late(const Engine& engine) const;
    bool is_late(const Entry& entry) const;

    std::vector<Entry> active_;
    Pause pause_ = Pause::none;
    std::chrono::microseconds lateness_{0};
    std::string late_names_;
    hp::ThreadRule thread_;
};

}  // namespace gpuemu
