// SPDX-License-Identifier: GPL-2.0
// Purpose: tells the error lines that a row may cause (KERN_ERR and worse, without a stack) from
// those that nobody has accounted for. What may be said is in three places, each beside its cause:
// the loss (values/loss_kind.cpp), the scenario (`may_log`), and here what any row may cause.
// Thread: pure functions.
#pragma once

#include <string>
#include <vector>

#include "hotplug/judge/kernel_log.h"
#include "hotplug/judge/verdict.h"

namespace hotplug {

/// Fails for each line of `log` that contains none of these: what any row may cause, what a loss of
/// `episodes` may cause once, one of `may_log`. One of `may_log` that begins with ^ is the line's
/// beginning.
CheckResult check_error_lines(const KernelLogSummary& log, const std::vector<Episode>& episodes,
                              const std::vector<std::string>& may_log);

}  // namespace hotplug
