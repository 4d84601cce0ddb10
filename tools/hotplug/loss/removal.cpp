// SPDX-License-Identifier: GPL-2.0
// Purpose: see removal.h.
// Thread: see removal.h.
#include "hotplug/loss/removal.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "hotplug/loss/steps.h"
#include "hotplug/machine/pcie_switch.h"

namespace hotplug {

namespace {

using Clock = Deadline::Clock;

const std::string pci_devices = "/sys/bus/pci/devices";
constexpr std::chrono::milliseconds link_poll_interval{5};

std::chrono::microseconds log_span(uint64_t from_us, uint64_t to_us) {
    return std::chrono::microseconds(to_us > from_us ? to_us - from_us : 0);
}

}  // namespace

Removal::Removal(Machine& machine, GpuSlot& slot, Loss loss, Deadline deadline,
                 const LossOptions& options)
    : machine_(machine),
      agent_(machine.agent()),
      slot_(slot),
      kind_(kind_of(loss)),
      deadline_(deadline),
      options_(options) {
    timeline_.loss = loss;
    if (kind_.failure == BoardFailure::at_access) {
        action_.emplace(machine, slot, options.during);
    }
}

hp::Result<LossTimeline> Removal::run() {
    if (auto prepared = prepare(); !prepared) {
        return tl::unexpected(prepared.error());
    }
    if (auto failed = fail_board(); !failed) {
        return tl::unexpected(failed.error());
    }
    if (auto removed = remove(); !removed) {
        return tl::unexpected(removed.error());
    }
    if (Deadline::interrupted()) {
        return hp::fail("interrupted");
    }
    find_notification();
    return std::move(timeline_);
}

void Removal::mark_event() {
    timeline_.event = Clock::now();
    timeline_.event_guest_us = agent_.guest_us(timeline_.event);
    timeline_.event_log_us = mark_.log_time(timeline_.event);
}

hp::Result<void> Removal::prepare() {
    const bool comes = action_ && action_->plugs();
    if (!comes && !slot_.plugged()) {
        return hp::fail(fmt::format("slot {} is empty: nothing to lose", slot_.index()));
    }
    if (kind_.needs_gpu && !slot_.has_gpu()) {
        return hp::fail(fmt::format("{}: slot {} has no emulated GPU", kind_.name, slot_.index()));
    }
    if (kind_.link_error.above && !machine_.config().behind_switch) {
        return hp::fail(fmt::format("{}: there is no port above the slots (--switch)", kind_.name));
    }
    auto bdf = slot_.bdf();
    auto port = kind_.link_error.above
                    ? hp::Result<std::string>(fmt::format("0000:00:{:02x}.0", switch_root_port))
                    : slot_.port().bdf();
    if (!bdf || !port) {
        return tl::unexpected(bdf ? port.error() : bdf.error());
    }
    timeline_.bdf = *bdf;
    port_bdf_ = *port;
    if (auto matched = agent_.synchronise_clock(Deadline::after(answer_deadline)); !matched) {
        return matched;
    }
    auto mark = agent_.mark_kernel_log(fmt::format("hpctl: {} of {}", kind_.name, timeline_.bdf),
                                       Deadline::after(answer_deadline));
    if (!mark) {
        return tl::unexpected(mark.error());
    }
    mark_ = *mark;
    timeline_.kernel_log_from = mark_.next_line;
    return slot_.reset_counters();
}

hp::Result<void> Removal::fail_board() {
    if (kind_.failure == BoardFailure::at_access) {
        return vanish_at_access();
    }
    mark_event();
    if (kind_.failure == BoardFailure::none || !slot_.has_gpu()) {
        return {};
    }
    if (kind_.failure == BoardFailure::link_down) {
        return take_link_down();
    }
    const auto failed = kind_.failure == BoardFailure::vanishes ? slot_.emulator().vanish()
                                                                : slot_.emulator().hang();
    if (!failed) {
        return failed;
    }
    deadline_.pause(kind_.announcement == Announcement::guest_write ? options_.unnoticed
                                                                    : options_.ones_before_event);
    return {};
}

hp::Result<void> Removal::take_link_down() {
    if (auto down = slot_.emulator().flaky(options_.ones_before_event); !down) {
        return down;
    }
    deadline_.pause(options_.ones_before_event);
    while (true) {
        auto status = slot_.emulator().status();
        if (!status) {
            return tl::unexpected(status.error());
        }
        if (status->state == "present") {
            return {};
        }
        if (deadline_.expired()) {
            return hp::fail(deadline_.missed("the emulator to be present again"));
        }
        deadline_.pause(link_poll_interval);
    }
}

hp::Result<void> Removal::vanish_at_access() {
    const auto longest = deadline_.remaining();  // of the removal, which has not begun yet
    if (auto prepared = action_->prepare(deadline_); !prepared) {
        return prepared;
    }
    if (auto vanished = action_->run_until_vanished(options_.access); !vanished) {
        return vanished;
    }
    mark_event();
    deadline_ = Deadline::after(longest);
    auto vanishing = action_->vanishing(deadline_);
    if (!vanishing) {
        return tl::unexpected(vanishing.error());
    }
    timeline_.vanishing = std::move(*vanishing);
    deadline_.pause(options_.ones_before_event);
    if (action_->plugs()) {
        // The board came to addresses under which nothing lies yet.
        if (auto armed = machine_.arm_black_holes(); !armed) {
            return armed;
        }
    }
    // Accesses count from here: until now nobody could tell the guest, and how long that was hangs
    // on how soon this thread heard of it.
    return slot_.reset_counters();
}

hp::Result<void> Removal::remove() {
    switch (kind_.announcement) {
        case Announcement::button: return remove_by_button();
        case Announcement::guest_write: return remove_by_guest_write();
        case Announcement::slot_event: return remove_by_slot_event(Restore::yes);
        case Announcement::slot_event_left_off: return remove_by_slot_event(Restore::no);
        case Announcement::link_error: return recover_from_link_error();
        case Announcement::nothing: return come_back_unannounced();
    }
    return hp::fail("no such announcement");
}

hp::Result<void> Removal::announce() {
    timeline_.announced = span(timeline_.event, Clock::now());
    if (options_.meanwhile.empty()) {
        return {};
    }
    return agent_.spawn("meanwhile", {"sh", "-c", options_.meanwhile}).map([&](JobId job) {
        timeline_.meanwhile = job;
    });
}

hp::Result<void> Removal::remove_by_button() {
    if (auto pressed = slot_.press_button(); !pressed) {
        return pressed;
    }
    if (auto announced = announce(); !announced) {
        return announced;
    }
    return wait_until_over(nullptr);
}

hp::Result<void> Removal::remove_by_slot_event(Restore restore) {
    if (auto pulled = slot_.port().surprise_removal(restore); !pulled) {
        return pulled;
    }
    if (auto announced = announce(); !announced) {
        return announced;
    }
    if (action_) {
        auto missed = action_->wait_awake(deadline_);
        if (!missed) {
            return tl::unexpected(missed.error());
        }
        timeline_.stuck = std::move(*missed);
        if (!timeline_.stuck.empty()) {
            return {};
        }
    }
    if (auto over = wait_until_over(nullptr); !over) {
        return over;
    }
    if (action_ && timeline_.stuck.empty() && !action_->wait_end()) {
        timeline_.stuck = fmt::format("'{}' does not end", options_.during);
    }
    return {};
}

hp::Result<void> Removal::remove_by_guest_write() {
    auto write =
        GuestWrite::start(agent_, fill_in(kind_.asks.path, slot_.slot_name(), timeline_.bdf),
                          fill_in(kind_.asks.data, slot_.slot_name(), timeline_.bdf), deadline_);
    if (!write) {
        return tl::unexpected(write.error());
    }
    if (auto announced = announce(); !announced) {
        return announced;
    }
    return wait_until_over(&*write);
}

hp::Result<void> Removal::recover_from_link_error() {
    const std::string port = kind_.link_error.above ? switch_root_id : slot_.port_id();
    auto answer = machine_.qmp().human(
        fmt::format("pcie_aer_inject_error {} {}", port, kind_.link_error.name));
    if (!answer) {
        return tl::unexpected(answer.error());
    }
    if (!answer->starts_with("OK")) {
        return hp::fail(fmt::format("QEMU did not inject the error: {}", *answer));
    }
    if (auto announced = announce(); !announced) {
        return announced;
    }
    constexpr std::string_view end =
        "device recovery ";  // drivers/pci/pcie/err.c: pcie_do_recovery()
    auto line = agent_.wait_kernel_line(
        timeline_.kernel_log_from,
        [&](const KernelLine& candidate) {
            return candidate.text.find(end) != std::string::npos && names_device(candidate.text);
        },
        "'device recovery successful' or 'failed'", deadline_);
    if (!line) {
        if (!agent_.connected()) {
            return tl::unexpected(line.error());
        }
        timeline_.stuck = line.error().message;
        return {};
    }
    timeline_.remove_returned = log_span(timeline_.event_log_us, line->time_us);
    if (!kind_.link_error.may_fail && line->text.find("successful") == std::string::npos) {
        timeline_.refused = line->text;
    }
    return {};
}

hp::Result<void> Removal::come_back_unannounced() {
    if (auto announced = announce(); !announced) {
        return announced;
    }
    timeline_.remove_returned = timeline_.announced;
    return {};
}

hp::Result<bool> Removal::note_directory() {
    if (directory_gone_) {
        return true;
    }
    auto names = agent_.list(pci_devices, Deadline::after(answer_deadline));
    if (!names) {
        return tl::unexpected(names.error());
    }
    if (std::find(names->begin(), names->end(), timeline_.bdf) != names->end()) {
        return false;
    }
    directory_gone_ = Clock::now();
    return true;
}

void Removal::note_deleted() {
    if (auto when = slot_.deleted(); when && !timeline_.device_deleted) {
        timeline_.device_deleted = span(timeline_.event, *when);
    }
}

bool Removal::overdue() const {
    return options_.overdue &&
           Clock::now() - timeline_.event >= *timeline_.announced + *options_.overdue;
}

hp::Result<bool> Removal::stands_still() {
    if (!overdue() || !slot_.has_gpu()) {
        return false;
    }
    const auto now = Clock::now();
    const auto accesses = slot_.accesses();
    if (!accesses) {
        return tl::unexpected(accesses.error());
    }
    if (*accesses != accesses_ || last_touch_ == Clock::time_point{}) {
        accesses_ = *accesses;
        last_touch_ = now;
    }
    return now - last_touch_ >= options_.still;
}

// `write`: the guest's write that asked for the removal, null when the slot did.
hp::Result<void> Removal::wait_until_over(GuestWrite* write) {
    while (true) {
        hp::Result<bool> written = write ? write->poll() : hp::Result<bool>(true);
        if (!written) {
            return tl::unexpected(written.error());
        }
        if (write && write->refused()) {
            timeline_.refused = write->result().error_text;
            timeline_.remove_returned =
                *timeline_.announced + std::chrono::microseconds(write->result().elapsed_us);
            return {};
        }
        hp::Result<bool> gone = kind_.device_stays ? hp::Result<bool>(true) : note_directory();
        if (!gone) {
            return tl::unexpected(gone.error());
        }
        if (*written && *gone && !timeline_.remove_returned) {
            // The directory goes before the write returns, and the write's own time is exact.
            timeline_.remove_returned =
                write ? *timeline_.announced + std::chrono::microseconds(write->result().elapsed_us)
                      : span(timeline_.event, *directory_gone_);
        }
        note_deleted();
        bool let_go = !empties_slot(timeline_.loss) || timeline_.device_deleted;
        if (timeline_.remove_returned && let_go) {
            return {};
        }
        if (overdue() && !std::exchange(told_overdue_, true) && options_.when_overdue) {
            options_.when_overdue();
        }
        const hp::Result<bool> still = stands_still();
        if (!still) {
            return tl::unexpected(still.error());
        }
        if (deadline_.expired() || *still) {
            const std::string awaited =
                !*written ? "the guest's write to return"
                : !*gone  ? fmt::format("{} to leave {}", timeline_.bdf, pci_devices)
                          : fmt::format("DEVICE_DELETED of {}", slot_.device_id());
            timeline_.stuck = deadline_.missed(awaited);
            if (!*still) {
                timeline_.given_up = span(timeline_.event, Clock::now());
            }
            return {};
        }
        deadline_.pause(poll_interval);
    }
}

bool Removal::names_device(const std::string& text) const {
    return text.find(timeline_.bdf) != std::string::npos ||
           text.find(port_bdf_) != std::string::npos;
}

void Removal::find_notification() {
    for (const KernelLine& line : agent_.kernel_log(timeline_.kernel_log_from)) {
        if (names_device(line.text)) {
            timeline_.notified = log_span(timeline_.event_log_us, line.time_us);
            timeline_.notified_line = line.text;
            return;
        }
    }
}

}  // namespace hotplug
