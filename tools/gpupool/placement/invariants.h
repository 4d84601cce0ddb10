// SPDX-License-Identifier: GPL-2.0
// Purpose: what holds of the books at any time: what tests and `gpupool doctor` look at, and the
// ledger when it has read them. Thread: a pure function.
#pragma once

#include <string>
#include <vector>

#include "gpupool/placement/books.h"

namespace gpupool {

/// One line for each thing that is wrong; empty for sound books.
std::vector<std::string> wrong_in(const Books& books);

}  // namespace gpupool
