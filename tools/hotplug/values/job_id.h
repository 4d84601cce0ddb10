// SPDX-License-Identifier: GPL-2.0
// Purpose: the agent's number of a program that it started. Thread: values.
#pragma once

#include <cstdint>

namespace hotplug {

using JobId = int64_t;

}  // namespace hotplug
