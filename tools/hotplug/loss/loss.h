// SPDX-License-Identifier: GPL-2.0
// Purpose: the ways a running machine loses a GPU, and the matching ways it gets one back, each
// timed from the event to the guest's last act. Thread: one at a time per machine. A removal that
// does not return in time is the driver's result and is reported as a value (`stuck`); a failure
// means that the harness could not do its part.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hotplug/base/deadline.h"
#include "hotplug/machine/emulator_client.h"
#include "hotplug/machine/gpu_slot.h"
#include "hotplug/machine/machine.h"
#include "lib/result.h"

namespace hotplug {

enum class Loss {
    device_del,     // QMP device_del: attention button, 5 s of grace, orderly removal
    slot_power,     // guest writes 0 to the slot's `power`: orderly, no grace
    sysfs_remove,   // guest writes to the device's `remove`: no slot event, the device goes on
                    // answering
    driver_unbind,  // guest writes to the driver's `unbind`: the device stays
    surprise,       // all ones, then presence drops without a button: pciehp's surprise path
    surprise_without_restore,  // negative control: Slot Control left "off", pciehp keeps a dead
                               // device for ever
    silent_death,  // all ones and no event; after a while an administrator removes it through sysfs
    hang,          // engines stop, registers answer; then removal through sysfs
    aer_fatal,     // fatal error of the link: pci_error_handlers, the device stays
    at_access,     // all ones from access k of something that is under way, then as surprise
};

/// All of the above, in that order.
std::span<const Loss> all_losses();
/// "device_del": the name in scenarios and reports.
std::string_view to_string(Loss loss);
std::optional<Loss> parse_loss(std::string_view name);
/// Does the loss leave the slot empty, so that another board can be put in?
bool empties_slot(Loss loss);

/// Is the GPU gone for whoever has it open? After aer_fatal its clients may go on.
bool ends_clients(Loss loss);

struct LossOptions {
    /// surprise: how long reads are all ones before the slot reports it (the card's connector is
    /// leaving).
    std::chrono::milliseconds ones_before_event{50};
    /// silent_death, hang: how long nothing happens before the removal through sysfs.
    std::chrono::milliseconds unnoticed{3000};
    /// A removal that takes longer than this is given up before its deadline once it stands still,
    /// that is has not touched the device for `still`: it waits for what does not come.
    std::optional<std::chrono::milliseconds> overdue = std::nullopt;
    /// Longer than any pause of a driver that goes on talking to its device afterwards.
    std::chrono::milliseconds still{15'000};
    /// at_access: what is under way. A command for the guest's shell, or plugging the board in,
    /// which needs an empty slot, or suspending the guest, which then wakes up by itself.
    std::string during;
    /// A command for the guest's shell, started when the removal has been announced. It is not
    /// waited for.
    std::string meanwhile;
    /// at_access: the GPU is gone before this access (1: the first) of `during`; 0, or more than it
    /// makes: when `during` has ended.
    uint64_t access = 0;
};

/// LossOptions::during of a board that is plugged in.
inline constexpr std::string_view plugging = "plug";
/// And of a guest that is suspended to idle, as far as its devices go, for a second.
inline constexpr std::string_view suspending = "suspend";

/// Times count from `event`; one that is empty did not happen before the deadline.
struct LossTimeline {
    using Span = std::optional<std::chrono::microseconds>;

    Loss loss = Loss::device_del;
    std::string bdf;
    uint64_t event_guest_us = 0;  // guest's CLOCK_MONOTONIC at the event: the clock of its clients
    uint64_t event_log_us = 0;    // printk's clock at the event: the clock of its kernel log
    Deadline::Clock::time_point event;
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
    /// the write returned; aer_fatal: the kernel said how the recovery ended.
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

/// Loses the GPU of `slot` and waits for the end of its removal, at most until `deadline`.
hp::Result<LossTimeline> lose(Machine& machine, GpuSlot& slot, Loss loss, Deadline deadline,
                              const LossOptions& options = {});

/// Times count from `event`: the board is plugged, or the guest asked to look for it. What precedes
/// it, such as the slot being powered off by the guest (1 s after the removal), is in none of them.
struct ReplugTimeline {
    using Span = std::optional<std::chrono::microseconds>;

    std::string bdf;
    uint64_t event_guest_us = 0;
    uint64_t event_log_us = 0;
    Deadline::Clock::time_point event;
    size_t kernel_log_from = 0;
    Span enumerated;      // the device is in /sys/bus/pci/devices
    Span driver_bound;    // it has a driver
    Span ready;           // and a render node and a KFD node: see GuestState::gpu_ready()
    std::string refused;  // errno text of a refused sysfs write
    std::string stuck;
};

/// Gets back the GPU that was lost by `loss`: device_add where the slot is empty, rescan where the
/// device was removed through sysfs, bind after unbind, nothing after AER. Lays the black hole
/// under it again. `replacement` may only ask for something where empties_slot(loss).
hp::Result<ReplugTimeline> recover(Machine& machine, GpuSlot& slot, Loss loss,
                                   const Replacement& replacement, Deadline deadline);

}  // namespace hotplug
