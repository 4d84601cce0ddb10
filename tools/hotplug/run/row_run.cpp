// SPDX-License-Identifier: GPL-2.0
// Purpose: see row_run.h.
// Thread: one at a time.
#include "hotplug/run/row_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hotplug/run/hang.h"

namespace hotplug {

namespace {

using Clock = Deadline::Clock;

}  // namespace

RowRun::RowRun(Testbed& bed, const Row& row, Progress& progress, GuestHistory& history,
               OnFailure on_failure)
    : progress_(progress),
      on_failure_(std::move(on_failure)),
      state_(bed, row, history),
      observer_(state_),
      judge_(state_, observer_),
      steps_(state_, observer_, judge_, progress_) {}

RowResult RowRun::run() {
    const auto start = Clock::now();
    state_.log_from = state_.bed.kernel_log_size();
    if (auto begun = begin(); !begun) {
        state_.step_failure = begun.error().message;
    }
    for (const Step& step : state_.row.steps()) {
        if (!state_.step_failure.empty() || Deadline::interrupted()) {
            break;
        }
        perform(step);
    }
    end();
    state_.result.duration =
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
    return std::move(state_.result);
}

hp::Result<void> RowRun::begin() {
    auto state = rested_state(state_.bed);
    if (!state) {
        return tl::unexpected(state.error());
    }
    state_.before = std::move(*state);
    auto stray = state_.bed.stray_dma();
    if (!stray) {
        return tl::unexpected(stray.error());
    }
    state_.stray_before = std::move(*stray);
    if (auto found = state_.find_target(state_.victim); !found) {
        return found;
    }
    state_.victim_at_start = state_.victim.gpu;
    if (state_.scenario.requires_.gpus > 1) {
        return state_.find_target(state_.bystander);
    }
    return {};
}

void RowRun::perform(const Step& step) {
    progress_.step_started(state_.row.id(), describe(step));
    const auto start = Clock::now();
    const auto done = std::visit([&](const auto& verb) { return steps_.perform(verb); }, step);
    if (done) {
        return;
    }
    state_.step_failure = fmt::format("step '{}': {}", describe(step), done.error().message);
    const bool overdue = std::visit(
        [&](const auto& verb) {
            if constexpr (requires { verb.deadline; }) {
                return Clock::now() - start >= verb.deadline;
            }
            return false;
        },
        step);
    if (overdue) {
        state_.overdue = describe(step);
    }
}

void RowRun::tell_failure() {
    const bool failed = std::any_of(state_.result.checks.begin(), state_.result.checks.end(),
                                    [](const CheckResult& check) { return !check.passed; });
    if (!on_failure_ || Deadline::interrupted()) {
        return;
    }
    if (const std::string hang = find_hang(state_, failed); failed || !hang.empty()) {
        progress_.step_started(state_.row.id(), "what hangs");
        on_failure_(state_.result, hang);
    }
}

void RowRun::end() {
    if (Deadline::interrupted()) {
        state_.mark_unfit("interrupted");
        return;
    }
    progress_.step_started(state_.row.id(), "checks");
    judge_.judge(state_.scenario.checks);
    if (state_.lost) {
        state_.mark_unfit("the GPU is not back");
    }
    observer_.mutations();
    if (state_.faulty || !state_.lying.empty()) {
        state_.mark_unfit("an emulator was told to misbehave");
    }
    if (!state_.step_failure.empty()) {
        state_.mark_unfit(state_.step_failure);
    }
    judge_.judge_steps();
    tell_failure();
    judge_.judge_end();
}

}  // namespace hotplug
