// SPDX-License-Identifier: GPL-2.0
// Purpose: see row_observer.h.
// Thread: one at a time.
#include "hotplug/run/row_observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "hotplug/judge/check.h"

namespace hotplug {

namespace {

using Clock = Deadline::Clock;

/// An end that the guest has seen is told to the host within this.
constexpr auto news_delay = std::chrono::seconds(1);

}  // namespace

void RowObserver::meanwhile(const LoseStep& step, const LossTimeline& loss) {
    if (!loss.meanwhile) {
        return;
    }
    const auto announced = loss.announced.value_or(std::chrono::microseconds(0));
    const auto rest = step.meanwhile_deadline - (Clock::now() - loss.event - announced);
    const auto end = state_.bed.wait_exit(
        *loss.meanwhile, Deadline::after(std::max<Clock::duration>(rest, news_delay)));
    const auto fail = [&](const std::string& why) {
        state_.held_up = fmt::format("during '{}', '{}': {}", describe(step), step.meanwhile, why);
        state_.mark_unfit(state_.held_up);
    };
    const std::string allowed = seconds_text(step.meanwhile_deadline);
    if (!end) {
        state_.overdue = step.meanwhile;
        return fail("has not ended after " + allowed);
    }
    const uint64_t from = loss.event_guest_us + static_cast<uint64_t>(announced.count());
    const std::chrono::milliseconds took((end->time_us - std::min(from, end->time_us)) / 1000);
    if (took > step.meanwhile_deadline) {
        return fail(fmt::format("took {}, allowed are {}", seconds_text(took), allowed));
    }
    if (end->status != 0) {
        const JobView job = state_.bed.job(*loss.meanwhile);
        fail(fmt::format("status {}: {}", end->status,
                         job.lines.empty() ? "" : job.lines.back().text));
    }
}

std::vector<VictimClient> RowObserver::clients_at_work() const {
    std::vector<VictimClient> at_work;
    for (const GuestClient& client : state_.clients) {
        const auto exit = client.exit();
        const bool well = exit && exit->status == 0;
        if (client.role() == Role::victim && client.worker() && !well) {
            at_work.push_back({.name = client.name(), .ended_before = exit.has_value()});
        }
    }
    return at_work;
}

void RowObserver::clients(Episode& episode) {
    const bool may_go_on = !ends_clients(episode.loss.loss);
    const auto elapsed = may_go_on ? Clock::duration(0) : Clock::now() - episode.loss.event;
    const auto rest = state_.limits.clients * 3 / 2 - elapsed;
    const Deadline deadline = Deadline::after(std::max<Clock::duration>(rest, news_delay));
    for (VictimClient& seen : episode.clients) {
        GuestClient& client = *state_.find_client(seen.name);
        if (may_go_on && !client.exit()) {
            seen.goes_on = client.wait_progress(deadline).has_value();
        }
        if (!may_go_on) {
            (void)client.wait_end(deadline);  // exit() tells whether it did
        }
        if (const auto exit = client.exit()) {
            const uint64_t event = episode.loss.event_guest_us;
            seen.ended = std::chrono::microseconds(exit->time_us - std::min(event, exit->time_us));
            seen.signal = client.killed_by();
        }
        const ClientLine last = client.last_word();
        seen.reason = last.reason;
        seen.error = last.error;
        seen.bad = client.bad();
        seen.last_line = client.last_line();
    }
}

void RowObserver::fences(Episode& episode) const {
    for (const GuestClient& client : state_.clients) {
        const auto fence = client.failed_fence();
        if (client.role() != Role::victim || !fence) {
            continue;
        }
        const uint64_t event = episode.loss.event_guest_us;
        const uint64_t after = fence->time_us > event ? fence->time_us - event : 0;
        episode.fences.push_back({client.name(), std::chrono::microseconds(after), fence->status});
    }
}

hp::Result<void> RowObserver::orphans() {
    const auto state = state_.bed.state();
    if (!state) {
        return tl::unexpected(state.error());
    }
    for (const OrphanedNode& node : state->drm_orphans) {
        state_.orphans.insert(node.minor);
    }
    // KFD gives each process all GPUs when it opens, so that it holds the instance, too.
    if (state_.lost && !state_.result.episodes.empty() && !state->kfd_users.empty()) {
        state_.orphans.insert(state_.result.episodes.back().loss.bdf);
    }
    return {};
}

hp::Result<void> RowObserver::accesses() {
    auto accesses = state_.bed.absent_accesses(state_.victim.slot);
    if (!accesses) {
        return tl::unexpected(accesses.error());
    }
    state_.result.episodes.back().accesses = std::move(*accesses);
    return {};
}

void RowObserver::mutations() {
    for (const size_t slot : state_.hostile) {
        if (const auto told = state_.bed.lies(slot)) {
            state_.result.mutations = state_.result.mutations.value_or(0) + told->count;
            for (const auto& [surface, lies] : told->surfaces) {
                state_.result.lies[surface].add(lies);
            }
        } else {
            state_.mark_unfit(told.error().message);
        }
    }
}

std::string RowObserver::last_kernel_line(const Episode& episode) {
    std::string last;
    for (const KernelLine& line : state_.bed.kernel_log(episode.loss.kernel_log_from)) {
        if (line.text.find(episode.loss.bdf) != std::string::npos) {
            last = format_record(line.time_us, line.text);
        }
    }
    return last;
}

std::string RowObserver::first_kernel_words(const ReplugTimeline& replug) {
    const auto log = classify(state_.bed.kernel_log(replug.kernel_log_from));
    if (!log.complaints.empty()) {
        const Complaint& first = log.complaints.front();
        return "; " + format_record(first.time_us, first.title);
    }
    if (!log.notes.empty()) {
        const KernelNote& first = log.notes.front();
        return "; " + format_record(first.time_us, first.text);
    }
    return {};
}

}  // namespace hotplug
