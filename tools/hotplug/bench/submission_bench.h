// SPDX-License-Identifier: GPL-2.0
// Purpose: the cost of a submission in guest instructions, on one kernel or two.
// Thread: one.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hotplug/machine/machine.h"
#include "lib/result.h"

namespace hotplug {

struct SubmissionBench {
    struct Kernel {
        std::string name;  // as the user named it
        MachineConfig config;
    };
    std::vector<Kernel> kernels;  // one, or two that are compared
    unsigned boots = 3;           // of each
    unsigned rounds = 8;          // a boot
    unsigned count = 400;         // submissions a round
    double limit_percent = 0.5;   // by which the second may differ
};

/// Whether the second kernel's cost is within the limit; true with one. Writes
/// bench-submission.json into `results`. Fails when a guest does not start, or boots of one kernel
/// differ too much to say anything.
hp::Result<bool> run_submission_bench(const SubmissionBench& bench,
                                      const std::filesystem::path& results);

}  // namespace hotplug
