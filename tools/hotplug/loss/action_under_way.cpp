// SPDX-License-Identifier: GPL-2.0
// Purpose: see action_under_way.h.
// Thread: see action_under_way.h.
#include "hotplug/loss/action_under_way.h"

#include <fmt/format.h>

#include "hotplug/loss/steps.h"
#include "hotplug/values/loss_options.h"

namespace hotplug {

namespace {

// What is under way has ended by then, or waits for what does not come.
constexpr std::chrono::seconds action_deadline{120};
constexpr std::chrono::milliseconds action_poll{10};
constexpr uint64_t never = ~0ull;
// The guest falls asleep, sleeps and wakes up in about this time: no use in asking before.
constexpr std::chrono::seconds sleep_time{5};
// Longer than an agent that is awake needs for an answer.
constexpr std::chrono::seconds sleeper_patience{2};
// Down to what pci_pm_suspend_noirq() does, D3hot, and back after a second. It waits for a line, so
// that the agent has told of its start before the guest falls asleep.
const std::string suspend_command =
    "echo 1 > /sys/module/suspend/parameters/pm_test_delay && "
    "echo platform > /sys/power/pm_test && read -r go && echo freeze > /sys/power/state";

}  // namespace

bool ActionUnderWay::plugs() const {
    return during_ == plugging;
}

bool ActionUnderWay::suspends() const {
    return during_ == suspending;
}

hp::Result<void> ActionUnderWay::prepare(Deadline deadline) {
    if (!plugs()) {
        return {};
    }
    const auto missing = wait_slot_off(slot_, deadline);
    if (!missing || !missing->empty()) {
        return missing ? hp::fail(*missing) : tl::unexpected(missing.error());
    }
    return slot_.prepare_board({}, deadline);
}

hp::Result<void> ActionUnderWay::start() {
    if (plugs()) {
        return slot_.plug();
    }
    auto spawned =
        machine_.agent().spawn("action", {"sh", "-c", suspends() ? suspend_command : during_});
    if (!spawned) {
        return tl::unexpected(spawned.error());
    }
    job_ = *spawned;
    return suspends() ? machine_.agent().send_job_input(*job_, "go") : hp::Result<void>();
}

std::chrono::milliseconds ActionUnderWay::pace() const {
    // ended() asks the guest when a board was plugged in: less often.
    return suspends() ? sleep_time : job_ ? action_poll : poll_interval;
}

hp::Result<bool> ActionUnderWay::ended() {
    if (suspends()) {
        // Before it is asked for: the news of its end may have come with the hello.
        if (auto met = machine_.agent().meet_again(sleeper_patience); !met) {
            return met;
        }
    }
    if (job_) {
        return machine_.agent().job(*job_).exit.has_value();
    }
    // A new board's way into use has ended.
    return machine_.device_progress(slot_).map(
        [](const DeviceProgress& progress) { return progress.ready; });
}

hp::Result<void> ActionUnderWay::run_until_vanished(uint64_t access) {
    EmulatorClient& emulator = slot_.emulator();
    earlier_ = emulator.event_count("vanished");
    if (auto armed = emulator.vanish_after(access == 0 ? never : access); !armed) {
        return armed;
    }
    if (auto started = start(); !started) {
        return started;
    }
    over_ = Deadline::after(action_deadline);
    while (true) {
        auto heard = emulator.wait_event("vanished", earlier_, over_->within(pace()));
        if (heard) {
            return {};
        }
        if (!emulator.connected()) {
            return heard;
        }
        const auto over = ended();
        if (!over) {
            return tl::unexpected(over.error());
        }
        if (*over) {
            return emulator.vanish();
        }
        if (over_->expired()) {
            return hp::fail(over_->missed(fmt::format("'{}' to end", during_)));
        }
    }
}

hp::Result<Vanishing> ActionUnderWay::vanishing(Deadline deadline) {
    if (auto seen = slot_.emulator().wait_event("vanished", earlier_, deadline); !seen) {
        return tl::unexpected(seen.error());
    }
    return slot_.emulator().last_vanishing();
}

hp::Result<std::string> ActionUnderWay::wait_awake(Deadline deadline) {
    while (suspends()) {
        const auto over = ended();
        if (!over) {
            return tl::unexpected(over.error());
        }
        if (*over) {
            break;
        }
        if (over_->expired()) {
            return over_->missed("the guest to wake up");
        }
        deadline.pause(poll_interval);
    }
    return std::string();
}

bool ActionUnderWay::wait_end() {
    return !job_ || machine_.agent().wait_exit(*job_, Deadline::after(action_deadline)).has_value();
}

}  // namespace hotplug
