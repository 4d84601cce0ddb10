// SPDX-License-Identifier: GPL-2.0
// Purpose: KTAP version 1 (Documentation/dev-tools/ktap.rst of the kernel): a test for each row, a
// subtest for each check; at once, or in pieces while the run goes on. Thread: pure functions; a
// stream is not synchronised.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "hotplug/judge/verdict.h"
#include "lib/result.h"

namespace hotplug {

std::string format_ktap(const RunReport& report);

/// Writes each row when it has ended. The plan stands in front, so that a reader misses what is not
/// there when hpctl is killed.
class KtapStream {
public:
    explicit KtapStream(std::FILE* out) : out_(out) {}

    /// What is new in the report of a run that goes on, `planned` rows in all. Fails when nobody
    /// can read it any more.
    hp::Result<void> advance(const RunReport& report, size_t planned);
    /// The rest, once. A row whose verdict the end of the run has changed is told of in the last
    /// test, which fails if that row does.
    hp::Result<void> finish(const RunReport& report);

private:
    hp::Result<void> write(const std::string& text);

    std::FILE* out_;
    bool begun_ = false;
    std::vector<Outcome> told_;  ///< of the rows that were written
};

}  // namespace hotplug
