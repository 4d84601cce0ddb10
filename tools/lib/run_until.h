// SPDX-License-Identifier: GPL-2.0
// Purpose: lets a unit test run an event loop until something is so.
// Thread: that of the loop.
#pragma once

#include <chrono>
#include <functional>

#include "lib/event_loop.h"

namespace hp {

/// Runs `loop`, asking `condition` whenever it is idle. False when that was not so within 10 s.
inline bool run_until(EventLoop& loop, const std::function<bool()>& condition) {
    bool held = false;
    const auto give_up = loop.after(std::chrono::seconds(10), [&] { loop.stop(); });
    loop.set_idle_work([&] {
        held = condition();
        if (held) {
            loop.stop();
        }
        return EventLoop::Idle::parked;
    });
    loop.run();
    loop.set_idle_work({});
    return held;
}

}  // namespace hp
