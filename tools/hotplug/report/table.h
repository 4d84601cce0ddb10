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

/// What the run has against itself and what it did not judge, a line each; empty: nothing.
std::string format_integrity(const Integrity& integrity);

/// The table, known failures, what is said of the run itself, their number, and the closing line as
/// the last one.
std::string format_table(const RunReport& report);

}  // namespace hotplug
