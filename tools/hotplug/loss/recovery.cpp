// SPDX-License-Identifier: GPL-2.0
// Purpose: see recovery.h.
// Thread: see recovery.h.
#include "hotplug/loss/recovery.h"

#include <fmt/format.h>

#include "hotplug/loss/steps.h"

namespace hotplug {

hp::Result<ReplugTimeline> Recovery::run() {
    if (auto prepared = prepare(); !prepared) {
        return tl::unexpected(prepared.error());
    }
    if (!timeline_.stuck.empty()) {
        return std::move(timeline_);
    }
    timeline_.event = Deadline::Clock::now();
    timeline_.event_guest_us = agent_.guest_us(timeline_.event);
    timeline_.event_log_us = mark_.log_time(timeline_.event);
    if (auto started = start(); !started) {
        return tl::unexpected(started.error());
    }
    if (auto used = wait_in_use(); !used) {
        return tl::unexpected(used.error());
    }
    if (Deadline::interrupted()) {
        return hp::fail("interrupted");
    }
    if (timeline_.ready) {
        if (auto armed = machine_.arm_black_holes(); !armed) {
            return tl::unexpected(armed.error());
        }
    }
    return std::move(timeline_);
}

hp::Result<void> Recovery::prepare() {
    auto bdf = slot_.bdf();
    if (!bdf) {
        return tl::unexpected(bdf.error());
    }
    timeline_.bdf = *bdf;
    if (auto matched = agent_.synchronise_clock(Deadline::after(answer_deadline)); !matched) {
        return matched;
    }
    auto mark = agent_.mark_kernel_log(
        fmt::format("hpctl: recovery from {} of {}", kind_.name, timeline_.bdf),
        Deadline::after(answer_deadline));
    if (!mark) {
        return tl::unexpected(mark.error());
    }
    mark_ = *mark;
    timeline_.kernel_log_from = mark_.next_line;
    if (kind_.comeback == Comeback::new_board) {
        auto missing = wait_slot_off(slot_, deadline_);
        if (!missing) {
            return tl::unexpected(missing.error());
        }
        timeline_.stuck = std::move(*missing);
        return timeline_.stuck.empty() ? slot_.prepare_board(replacement_, deadline_)
                                       : hp::Result<void>();
    }
    if (slot_.deleted()) {
        timeline_.stuck = put_away();
        return {};
    }
    if (replacement_.needs_empty_slot()) {
        return hp::fail(fmt::format("after {} the old board is still in slot {}: no other fits in",
                                    kind_.name, slot_.index()));
    }
    if (kind_.comeback == Comeback::guest_write && kind_.failure != BoardFailure::none) {
        return slot_.emulator().restore();
    }
    return {};
}

hp::Result<void> Recovery::start() {
    switch (kind_.comeback) {
        case Comeback::new_board: return slot_.plug();
        case Comeback::by_itself: return {};
        case Comeback::guest_write: break;
    }
    auto started = GuestWrite::start(
        agent_, fill_in(kind_.brings_back.path, slot_.slot_name(), timeline_.bdf),
        fill_in(kind_.brings_back.data, slot_.slot_name(), timeline_.bdf), deadline_);
    if (!started) {
        return tl::unexpected(started.error());
    }
    write_ = std::move(*started);
    return {};
}

std::string Recovery::put_away() const {
    return fmt::format("the guest has switched slot {} off, and QEMU let go of {}",
                       slot_.slot_name(), slot_.device_id());
}

void Recovery::note(ReplugTimeline::Span& moment, bool reached) const {
    if (reached && !moment) {
        moment = span(timeline_.event, Deadline::Clock::now());
    }
}

hp::Result<void> Recovery::wait_in_use() {
    while (true) {
        hp::Result<bool> written = write_ ? write_->poll() : hp::Result<bool>(true);
        if (!written) {
            return tl::unexpected(written.error());
        }
        if (write_ && write_->refused()) {
            timeline_.refused = write_->result().error_text;
            return {};
        }
        if (slot_.deleted()) {
            timeline_.stuck = put_away();
            return {};
        }
        auto progress = machine_.device_progress(slot_);
        if (!progress) {
            return tl::unexpected(progress.error());
        }
        note(timeline_.enumerated, progress->enumerated);
        note(timeline_.driver_bound, progress->bound);
        note(timeline_.ready, progress->ready);
        if (timeline_.ready && *written) {
            return {};
        }
        if (deadline_.expired()) {
            const char* awaited = !progress->enumerated ? "the guest to find the board"
                                  : !progress->bound    ? "a driver to be bound to it"
                                  : !progress->ready    ? "its render node and KFD node"
                                                        : "the guest's write to return";
            timeline_.stuck = deadline_.missed(awaited);
            return {};
        }
        deadline_.pause(poll_interval);
    }
}

}  // namespace hotplug
