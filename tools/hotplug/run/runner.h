// SPDX-License-Identifier: GPL-2.0
// Purpose: runs rows, in guests one after the other or in several at once.
// Thread: the caller's, which is the first guest's, and one for each other guest.
#pragma once

#include <span>

#include "hotplug/run/run_book.h"

namespace hotplug {

class Runner {
public:
    /// Both must outlive the runner, and take calls from any thread where the run has several
    /// guests.
    Runner(TestbedFactory& factory, Progress& progress, RunnerConfig config);

    /// Fills the rows, in the order in which they ended, and what of `info` only a running guest
    /// tells. Comes back early on Ctrl-C (info.interrupted), when Deadline's limit for all has
    /// passed (info.out_of_time), and when no guest boots (info.error); it says then which rows
    /// were not run. Once.
    RunReport run(std::span<const Row> rows, RunInfo info);
    RunReport run(RowSource& rows, RunInfo info);

private:
    TestbedFactory& factory_;
    Progress& progress_;
    RunnerConfig config_;
};

}  // namespace hotplug
