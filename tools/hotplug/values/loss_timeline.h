// SPDX-License-Identifier: GPL-2.0
// Purpose: what was measured of a loss and of the way back, from the event to the guest's last act.
// A removal that does not return in time is the driver's result and stands here as `stuck`. Thread:
// values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "hotplug/values/accesses.h"
#include "hotplug/values/job_id.h"
#include "hotplug/values/loss_kind.h"

namespace hotplug {

/// Times count from `event`; one that is empty did not happen before the deadline.
struct LossTimeline {
    using Span = std::optional<std::chrono::microseconds>;

    Loss loss = Loss::device_del;
    std::string bdf;
    uint64_t event_guest_us = 0;  // guest's CLOCK_MONOTONIC at the event: the clock of its clients
    uint64_t event_log_us = 0;    // printk's clock at the event: the clock of its kernel log
    std::chrono::steady_clock::time_point event;
    size_t kernel_log_from =
        0;  // first kernel line after the event: an index of AgentClient::kernel_log()
    /// When the removal was asked for or announced: button pressed, slot event raised, sysfs
    /// written, error injected.
    Span announced;
    /// The first kernel line that names the GPU or its root port.
    Span notified;
    std::string notified_line;
    /// The removal is over. device_del, slot_power, surprise*, sysfs_remove, silent_death, hang:
    /// the device's directory in /sys/bus/pci/devices is gone, which
    /// pci_stop_and_remove_bus_device() does after the driver's remove() returned (seen with 50 ms
    /// resolution; slot_power and the sysfs ones need the write(2) returned, too); driver_unbind:
    /// the write returned, as for bus_reset; aer_*, link_down_fatal: the kernel said how the
    /// recovery ended; link_down: the device answers again.
    Span remove_returned;
    /// QEMU has let go of the board (DEVICE_DELETED); only where empties_slot().
    Span device_deleted;
    /// errno text of a refused sysfs write, "device recovery failed" of AER; empty: it went well.
    std::string refused;
    /// What had not happened at the deadline; empty: nothing is missing.
    std::string stuck;
    /// The deadline came while the driver was still at work; none: it had come to a standstill.
    Span given_up;
    std::optional<Vanishing> vanishing;  // at_access only
    std::optional<JobId> meanwhile;      // the job of LossOptions::meanwhile
};

/// Times count from `event`: the board is plugged, or the guest asked to look for it. What precedes
/// it, such as the slot being powered off by the guest (1 s after the removal), is in none of them.
struct ReplugTimeline {
    using Span = std::optional<std::chrono::microseconds>;

    std::string bdf;
    uint64_t event_guest_us = 0;
    uint64_t event_log_us = 0;
    std::chrono::steady_clock::time_point event;
    size_t kernel_log_from = 0;
    Span enumerated;      // the device is in /sys/bus/pci/devices
    Span driver_bound;    // it has a driver
    Span ready;           // and a render node and a KFD node: see GuestState::gpu_ready()
    std::string refused;  // errno text of a refused sysfs write
    std::string stuck;
};

}  // namespace hotplug
