// SPDX-License-Identifier: GPL-2.0
// Purpose: judges what was observed. Each function is one check of Documentation/harness/checks.md.
// Thread: pure functions.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "hotplug/judge/kernel_log.h"
#include "hotplug/judge/verdict.h"
#include "hotplug/scenario/scenario.h"

namespace hotplug {

/// "1.2 s"
std::string seconds_text(std::chrono::microseconds time);

CheckResult check_removed(const std::vector<Episode>& episodes, const Limits& limits);
/// What is wrong with how a client took that loss; empty: nothing. It has to end by an error or an
/// event that tells of the loss; where the GPU is reset and stays (aer_fatal) it may go on instead.
/// Wrong results are wrong everywhere.
std::string trouble_of(const VictimClient& client, Loss loss);
CheckResult check_clients_released(const std::vector<Episode>& episodes, const Limits& limits);
CheckResult check_no_access(const std::vector<Episode>& episodes, const Limits& limits);
CheckResult check_replug(const std::vector<Episode>& episodes, const Limits& limits);
CheckResult check_log_clean(const KernelLogSummary& log);
/// Of the row: by slot, up to its beginning and up to its end.
CheckResult check_stray_dma(const std::vector<StrayDma>& before,
                            const std::vector<StrayDma>& after);
/// Each of `leaks` is one line of evidence.
CheckResult check_no_leak(std::vector<std::string> leaks);
/// `failure`: the step that could not be done; empty: all were.
CheckResult check_steps(const std::string& failure);

/// A result of a check that never came to be judged.
CheckResult not_reached(Check check);

/// Judged again: a failure stays, with its evidence; else the later result counts.
void merge_result(std::vector<CheckResult>& results, CheckResult result);

}  // namespace hotplug
