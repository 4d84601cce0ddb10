// SPDX-License-Identifier: GPL-2.0
// Purpose: the part of a log or of an emulator's trace that explains a failure, of bounded size.
// Thread: any; no state.
#pragma once

#include <cstdint>
#include <filesystem>

#include "lib/result.h"

namespace hotplug {

/// No excerpt is larger.
inline constexpr uint64_t excerpt_bytes = 1u << 20;

/// The end of a log, from the beginning of a line; all of it when it is short.
hp::Result<void> copy_log_end(const std::filesystem::path& from, const std::filesystem::path& to);

/// A trace (gpu-emu/witness/trace_format.h) of the accesses around a moment of CLOCK_MONOTONIC,
/// half of them before it; and, in front of these, the last lies that a hostile device told
/// earlier.
hp::Result<void> copy_trace_around(const std::filesystem::path& from,
                                   const std::filesystem::path& to, uint64_t moment_ns);

}  // namespace hotplug
