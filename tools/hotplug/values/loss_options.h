// SPDX-License-Identifier: GPL-2.0
// Purpose: what a loss leaves open. Thread: values.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace hotplug {

struct LossOptions {
    /// surprise: how long reads are all ones before the slot reports it (the card's connector is
    /// leaving). link_down, link_down_fatal: how long they are all ones.
    std::chrono::milliseconds ones_before_event{50};
    /// silent_death, hang: how long nothing happens before the removal through sysfs.
    std::chrono::milliseconds unnoticed{3000};
    /// A removal that takes longer than this is given up before its deadline once it stands still,
    /// that is has not touched the device for `still`: it waits for what does not come.
    std::optional<std::chrono::milliseconds> overdue = std::nullopt;
    /// Called once when a removal takes longer than `overdue`, while it is watched on.
    std::function<void()> when_overdue;
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

}  // namespace hotplug
