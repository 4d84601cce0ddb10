// SPDX-License-Identifier: GPL-2.0
// Purpose: see row_judge.h.
// Thread: one at a time.
#include "hotplug/run/row_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hotplug/judge/check.h"
#include "hotplug/judge/error_lines.h"

namespace hotplug {

namespace {

using Clock = Deadline::Clock;

constexpr auto settle_pause = std::chrono::milliseconds(250);
constexpr unsigned kmemleak_cycles = 8;
constexpr const char* lied = "not judged: the device lied";

}  // namespace

std::string open_command(std::string_view path) {
    return fmt::format("[ -c {0} ] || {{ echo 'no such device' >&2; exit 1; }}; exec 3<>{0}", path);
}

void RowJudge::judge(std::span<const Check> checks) {
    for (const Check check : checks) {
        // The first failure counts, and a check that failed by a deadline would wait for it again.
        if (const CheckResult* earlier = state_.result.find(check); !earlier || earlier->passed) {
            merge_result(state_.result.checks, judge_now(check));
        }
    }
}

void RowJudge::judge_steps() {
    merge_result(state_.result.checks, judge_now(Check::steps));
}

void RowJudge::judge_end() {
    // The leak check ends the clients, which may make the kernel complain: the log comes last.
    CheckResult leak = judge_now(Check::no_leak);
    const auto log = state_.bed.kernel_log(state_.history.log_judged);
    state_.history.log_judged += log.size();
    state_.result.kernel_log = classify(log);
    // After its first report lockdep is off, and so is more: the next row would be judged by less.
    for (const Complaint& complaint : state_.result.kernel_log.complaints) {
        if (!state_.row.soak() || is_fatal(complaint.kind)) {
            state_.mark_unfit(complaint.title);
        }
    }
    merge_result(state_.result.checks, judge_now(Check::log_clean));
    merge_result(state_.result.checks, judge_now(Check::error_lines));
    merge_result(state_.result.checks, judge_now(Check::stray_dma));
    merge_result(state_.result.checks, std::move(leak));
}

CheckResult RowJudge::judge_now(Check check) {
    const auto& episodes = state_.result.episodes;
    if (info(check).data == CheckData::losses && episodes.empty()) {
        return not_reached(check);
    }
    if (info(check).data == CheckData::guest && state_.silent) {
        return {.check = check,
                .passed = false,
                .value = "no answer",
                .evidence = {"the guest does not answer"}};
    }
    switch (check) {
        case Check::removed: return check_removed(episodes, state_.limits);
        case Check::clients_released: return check_clients_released(episodes, state_.limits);
        case Check::no_access:
            if (state_.lost && !observer_.accesses()) {
                return not_reached(check);
            }
            return check_no_access(episodes, state_.limits);
        case Check::replug: return check_replug(episodes, state_.limits);
        case Check::bystander: return judge_bystander();
        case Check::kfd_usable: return judge_kfd();
        case Check::steps:
            return check_steps(state_.step_failure.empty() ? state_.held_up : state_.step_failure);
        case Check::log_clean: return check_log_clean(state_.result.kernel_log);
        case Check::error_lines: return judge_error_lines();
        case Check::stray_dma: return judge_stray_dma();
        case Check::no_leak: return check_no_leak(find_row_leaks());
    }
    return not_reached(check);
}

CheckResult RowJudge::judge_bystander() {
    CheckResult result = {.check = Check::bystander};
    std::chrono::milliseconds longest{0};
    const auto loss =
        state_.result.episodes.empty() ? Clock::now() : state_.result.episodes.front().loss.event;
    bool found = !state_.stopped_bystanders.empty();
    for (const auto& [name, troubles] : state_.stopped_bystanders) {
        result.evidence.insert(result.evidence.end(), troubles.begin(), troubles.end());
    }
    for (GuestClient& client : state_.clients) {
        if (client.role() != Role::bystander) {
            continue;
        }
        found = true;
        auto troubles = client.troubles(loss);
        if (troubles.empty() && client.worker()) {
            if (auto going = client.wait_progress(Deadline::after(state_.limits.stall)); !going) {
                troubles.push_back(going.error().message);
            } else {
                const auto stall = client.longest_stall(loss);
                longest = std::max(longest, stall);
                if (stall > state_.limits.stall) {
                    troubles.push_back(
                        fmt::format("{} stood still for {}", client.name(), seconds_text(stall)));
                }
            }
        }
        result.evidence.insert(result.evidence.end(), troubles.begin(), troubles.end());
    }
    if (!found) {
        return not_reached(Check::bystander);
    }
    const auto evictions = find_evictions();
    result.evidence.insert(result.evidence.end(), evictions.begin(), evictions.end());
    result.passed = result.evidence.empty();
    result.value = result.passed ? "alive, still for " + seconds_text(longest) : "disturbed";
    return result;
}

/// A queue that the driver takes from the GPU and gives back stands still for a moment, which its
/// client may not notice. An eviction that goes on is not counted yet: that the client notices.
/// Who came after the loss, if there was one, has nothing to be compared with.
std::vector<std::string> RowJudge::find_evictions() {
    const auto now = state_.bed.state();
    if (!now) {
        return {now.error().message};
    }
    std::vector<std::string> evictions;
    for (const GuestClient& client : state_.clients) {
        const uint32_t gpu_id = state_.bystander.gpu.gpu_id;
        const auto before = state_.before_loss.evicted_ms(client.pid(), gpu_id);
        const auto after = now->evicted_ms(client.pid(), gpu_id);
        if (client.role() == Role::bystander && before && after && *after > *before) {
            evictions.push_back(fmt::format("{}: its queues were evicted for {} ms", client.name(),
                                            *after - *before));
        }
    }
    return evictions;
}

CheckResult RowJudge::judge_kfd() {
    CheckResult result = {.check = Check::kfd_usable, .value = "yes"};
    const auto opened = state_.bed.run({"sh", "-c", open_command("/dev/kfd")}, open_deadline);
    result.passed = opened && opened->status == 0 && !opened->timed_out;
    if (!result.passed) {
        // Debian's 6.12 keeps KFD locked after a removal: each row that follows would fail for it.
        state_.mark_unfit("/dev/kfd cannot be opened");
        result.value = "no";
        result.evidence.push_back("open of /dev/kfd: " +
                                  (opened ? output_of(*opened) : opened.error().message));
    }
    return result;
}

/// A device that was told to lie may have had nothing to say. How much it lied may be unknown:
/// then it did.
bool RowJudge::device_lied() const {
    return !state_.hostile.empty() && state_.result.mutations != 0;
}

/// A driver that notices a lie says so.
CheckResult RowJudge::judge_error_lines() {
    if (device_lied()) {
        return {.check = Check::error_lines, .value = lied};
    }
    std::vector<std::string> may_log = state_.scenario.may_log;
    for (std::string& line : may_log) {
        line = state_.expand(std::move(line));
    }
    return check_error_lines(state_.result.kernel_log, state_.result.episodes, may_log);
}

/// Who believes a device that lies may send it anywhere.
CheckResult RowJudge::judge_stray_dma() {
    if (device_lied()) {
        return {.check = Check::stray_dma, .value = lied};
    }
    const auto after = state_.bed.stray_dma();
    if (!after) {
        return {.check = Check::stray_dma,
                .passed = false,
                .value = "no answer",
                .evidence = {after.error().message}};
    }
    return check_stray_dma(state_.stray_before, *after);
}

std::vector<std::string> RowJudge::find_row_leaks() {
    std::vector<std::string> leaks = stop_all(state_.clients);
    state_.clients.clear();
    // Releases run in work queues and after RCU grace periods: the guest may take a while to come
    // to rest.
    // One with a removal under way never does.
    const bool stuck =
        std::any_of(state_.result.episodes.begin(), state_.result.episodes.end(),
                    [](const Episode& episode) { return !episode.loss.stuck.empty(); });
    const Deadline deadline =
        Deadline::after(stuck ? std::chrono::milliseconds(0) : state_.limits.settle);
    while (true) {
        // Where a removal hangs, so may what shrinks caches, and what is free waits for RCU:
        // objects are not counted there. `removed` fails such a row.
        auto after = stuck ? state_.bed.state() : rested_state(state_.bed);
        if (!after) {
            state_.mark_unfit(after.error().message);
            leaks.push_back("the guest's state could not be read: " + after.error().message);
            return leaks;
        }
        if (stuck) {
            after->slab.clear();
        }
        // In a soak damage is meant to add up: it goes on as long as both GPUs work.
        const auto differences = state_.row.soak()
                                     ? find_obstacles(state_.before, *after)
                                     : find_differences(state_.before, *after, state_.orphans);
        const auto found = find_leaks(state_.before, *after, state_.orphans);
        if (!found.empty() && !deadline.expired()) {
            deadline.pause(settle_pause);
            continue;
        }
        leaks.insert(leaks.end(), found.begin(), found.end());
        if (state_.row.soak() && !stuck) {
            const auto grown = state_.history.growth.add_cycle(after->slab);
            leaks.insert(leaks.end(), grown.begin(), grown.end());
        }
        for (const std::string& difference : differences) {
            state_.mark_unfit(difference);
        }
        break;
    }
    if (state_.bed.facts().options.contains("CONFIG_DEBUG_KMEMLEAK") && kmemleak_is_due()) {
        const auto reports = state_.bed.kmemleak();
        if (!reports) {
            leaks.push_back("kmemleak: " + reports.error().message);
            return leaks;
        }
        for (const std::string& report : *reports) {
            if (state_.history.known_leaks.insert(report).second) {
                leaks.push_back("kmemleak: " + report);
            }
        }
    }
    return leaks;
}

/// A scan takes as long as the rest of a cycle. What leaks in a soak is still there cycles later,
/// as long as the guest is.
bool RowJudge::kmemleak_is_due() const {
    return !state_.row.soak() || state_.row.last_cycle || state_.row.cycle % kmemleak_cycles == 0 ||
           !state_.result.unfit.empty();
}

}  // namespace hotplug
