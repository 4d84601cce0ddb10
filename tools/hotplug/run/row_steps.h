// SPDX-License-Identifier: GPL-2.0
// Purpose: does the steps of a row, one function for each verb of a scenario.
// Thread: one at a time.
#pragma once

#include <map>
#include <nlohmann/json.hpp>

#include "hotplug/run/progress.h"
#include "hotplug/run/row_judge.h"
#include "hotplug/run/row_observer.h"
#include "hotplug/run/row_state.h"

namespace hotplug {

class RowSteps {
public:
    RowSteps(RowState& state, RowObserver& observer, RowJudge& judge, Progress& progress)
        : state_(state), observer_(observer), judge_(judge), progress_(progress) {}

    /// Fails when the row cannot go on.
    hp::Result<void> perform(const StartStep& step);
    hp::Result<void> perform(const TellStep& step);
    hp::Result<void> perform(const StopStep& step);
    hp::Result<void> perform(const AwaitStep& step);
    hp::Result<void> perform(const LoseStep& step);
    hp::Result<void> perform(const EmulateStep& step);
    hp::Result<void> perform(const AskStep& step);
    hp::Result<void> perform(const RecoverStep& step);
    hp::Result<void> perform(const ShellStep& step);
    hp::Result<void> perform(const WaitStep& step);
    hp::Result<void> perform(const ExpectStep& step);
    hp::Result<void> perform(const SettleStep& step);

private:
    bool wants(Check check) const;
    hp::Result<void> run_first_jobs(Episode& episode);

    RowState& state_;
    RowObserver& observer_;
    RowJudge& judge_;
    Progress& progress_;
    /// What the emulators said when they were asked last.
    std::map<Role, nlohmann::json> answers_;
};

}  // namespace hotplug
