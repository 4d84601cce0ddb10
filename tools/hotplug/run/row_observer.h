// SPDX-License-Identifier: GPL-2.0
// Purpose: takes down what can be seen of a loss and a replug while a row goes on, as figures and
// names. What is made of it: row_judge.h. Thread: one at a time.
#pragma once

#include <string>

#include "hotplug/run/row_state.h"

namespace hotplug {

class RowObserver {
public:
    explicit RowObserver(RowState& state) : state_(state) {}

    /// What ran during the removal: a failure is the row's, which goes on (RowState::held_up).
    void meanwhile(const LoseStep& step, const LossTimeline& loss);
    /// Before a loss: which of the victim's workers it will find at work. One that has ended well
    /// has done what it was for, and is none of them.
    std::vector<VictimClient> clients_at_work() const;
    /// Waits for these to end, for half as long again as they may take; or, where the GPU stays, to
    /// go on.
    void clients(Episode& episode);
    void fences(Episode& episode) const;
    /// Asked before each step that may make a driver take minors for a new instance. Not before a
    /// client is stopped: rows that close a file at a given moment have none to lose.
    hp::Result<void> orphans();
    /// Of the last episode.
    hp::Result<void> accesses();
    void mutations();
    /// About the GPU that was lost; empty: none.
    std::string last_kernel_line(const Episode& episode);
    /// What the kernel said first about a replug that failed: a complaint if there is one, else an
    /// error line.
    std::string first_kernel_words(const ReplugTimeline& replug);

private:
    RowState& state_;
};

}  // namespace hotplug
