// SPDX-License-Identifier: GPL-2.0
// Purpose: the rate of the host's TSC, which is that of a guest without KVM, too. A guest that has
// to find it out compares it with an emulated timer, which may fail on a busy host: 853 and 35826
// MHz were seen for 2596. Its clock is wrong then for as long as it runs. Thread: any.
// Not modelled: hosts that are not x86.
#pragma once

#include <chrono>
#include <cstdint>

namespace hotplug {

/// Compares TSC and clock over that time. 0: the host has no TSC.
uint64_t measure_tsc_khz(std::chrono::milliseconds time);

/// Measured once, which takes a few milliseconds.
uint64_t host_tsc_khz();

}  // namespace hotplug
