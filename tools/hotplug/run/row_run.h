// SPDX-License-Identifier: GPL-2.0
// Purpose: runs one row on a guest that is up: its steps in order, its checks, and what makes the
// guest unfit for the next row. Thread: one at a time.
#pragma once

#include <functional>

#include "hotplug/run/progress.h"
#include "hotplug/run/row_judge.h"
#include "hotplug/run/row_observer.h"
#include "hotplug/run/row_state.h"
#include "hotplug/run/row_steps.h"

namespace hotplug {

class RowRun {
public:
    /// Called after the checks, when the clients have not been ended yet: the row as it went so
    /// far, and why it counts as hung (empty: it does not, but something failed).
    using OnFailure = std::function<void(RowResult&, const std::string& hang)>;

    /// `history`: of the rows before on this boot; this one is added.
    RowRun(Testbed& bed, const Row& row, Progress& progress, GuestHistory& history,
           OnFailure on_failure = {});
    RowRun(const RowRun&) = delete;
    RowRun& operator=(const RowRun&) = delete;

    /// The checks' results, not yet held against the list of expected failures. Once.
    RowResult run();

private:
    hp::Result<void> begin();
    void perform(const Step& step);
    void end();
    void tell_failure();

    Progress& progress_;
    OnFailure on_failure_;
    RowState state_;
    RowObserver observer_;
    RowJudge judge_;
    RowSteps steps_;
};

}  // namespace hotplug
