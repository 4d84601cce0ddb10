// SPDX-License-Identifier: GPL-2.0
// Purpose: the verdict table on standard output, one line a row, and what stands below it.
// Thread: pure functions.
#pragma once

#include <string>

#include "hotplug/judge/verdict.h"

namespace hotplug {

/// A check's result in a few characters: "0.9 s", "64.6 s *" when known to fail, "64.6 s !" when it
/// must not, "+" when it passed although it is known to fail, "-" when the row does not judge it.
std::string cell(const RowResult& row, Check check);

/// The table, known failures, their number, and the closing line "N passed, N failed, N skipped" as
/// the last one.
std::string format_table(const RunReport& report);

}  // namespace hotplug
