// SPDX-License-Identifier: GPL-2.0
// Purpose: runs requests that may block in the kernel (sysfs `remove` can for a minute) away from
// the agent's loop. Thread: start(), take_answers() and so on from the loop; each piece of work has
// a thread of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "hotplug/in_guest/agent/clock.h"
#include "lib/fd.h"
#include "lib/result.h"

namespace hp::agent {

/// A thread stuck in the kernel cannot be ended, so threads are detached; what they share with the
/// loop lives as long as the last of them.
class Workers {
public:
    using Work = std::function<nlohmann::json()>;

    Workers();

    /// The answer comes out of take_answers(). After the timeout, if one is given, an error does,
    /// and the late answer becomes the event `late`.
    Result<void> start(nlohmann::json id, std::optional<std::chrono::milliseconds> timeout,
                       Work work);

    /// Readable when an answer is there.
    int ready_fd() const { return shared_->ready.get(); }
    std::vector<nlohmann::json> take_answers();

    /// Errors for what is overdue; to be called at next_deadline().
    std::vector<nlohmann::json> take_overdue();
    std::optional<Clock::time_point> next_deadline() const;

private:
    struct Pending {
        nlohmann::json id;
        Clock::time_point started;
        std::optional<Clock::time_point> deadline;
        bool overdue = false;
    };

    struct Finished {
        std::uint64_t number;
        nlohmann::json answer;
    };

    struct Shared {
        Fd ready;
        std::mutex mutex;
        std::vector<Finished> finished;
    };

    std::shared_ptr<Shared> shared_;
    std::map<std::uint64_t, Pending> pending_;
    std::uint64_t next_number_ = 0;
};

}  // namespace hp::agent
