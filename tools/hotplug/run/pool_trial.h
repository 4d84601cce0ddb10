// SPDX-License-Identifier: GPL-2.0
// Purpose: a row that is a trial of the GPU pool: runs scripts/pooltrial, which has a daemon,
// boards and guests of its own, and takes what it prints for the row's verdict. Thread: one at a
// time.
#pragma once

#include <filesystem>

#include "hotplug/judge/verdict.h"
#include "hotplug/machine/machine.h"
#include "hotplug/scenario/catalogue.h"

namespace hotplug {

struct PoolTrials {
    std::filesystem::path script;  ///< Part::pool_trial
    std::filesystem::path daemon;  ///< Part::pool_daemon
    std::filesystem::path results_dir;

    /// The row's result, not yet held against the list of expected failures. `machine`: whose
    /// kernel, image and memory the trial's guests have.
    RowResult run(const Row& row, const MachineConfig& machine) const;
};

}  // namespace hotplug
