// SPDX-License-Identifier: GPL-2.0
// Purpose: see row_steps.h.
// Thread: one at a time.
#include "hotplug/run/row_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace hotplug {

namespace {

using Clock = Deadline::Clock;

constexpr auto first_job_deadline = std::chrono::seconds(30);

/// How long a replug is watched: half as long again as its limit, so that a miss has a figure.
Deadline watch(std::chrono::milliseconds limit) {
    return Deadline::after(limit * 3 / 2);
}

std::optional<uint64_t> number_at(const nlohmann::json& answer, const std::string& pointer) {
    const nlohmann::json::json_pointer place(pointer);
    if (!answer.contains(place) || !answer.at(place).is_number_unsigned()) {
        return std::nullopt;
    }
    return answer.at(place).get<uint64_t>();
}

}  // namespace

bool RowSteps::wants(Check check) const {
    const auto steps = state_.row.steps();
    return std::find(state_.scenario.checks.begin(), state_.scenario.checks.end(), check) !=
               state_.scenario.checks.end() ||
           std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
               const auto* expect = std::get_if<ExpectStep>(&step);
               return expect != nullptr && std::find(expect->checks.begin(), expect->checks.end(),
                                                     check) != expect->checks.end();
           });
}

hp::Result<void> RowSteps::perform(const StartStep& step) {
    if (auto seen = observer_.orphans(); !seen) {
        return seen;
    }
    std::vector<std::string> options;
    for (const std::string& option : step.script ? step.script->options() : step.options) {
        options.push_back(state_.expand(option));
    }
    auto client = GuestClient::start(state_.bed, step, state_.target(step.on).gpu, options);
    if (!client) {
        return tl::unexpected(client.error());
    }
    state_.clients.push_back(std::move(*client));
    return {};
}

hp::Result<void> RowSteps::perform(const TellStep& step) {
    GuestClient* client = state_.find_client(step.client);
    if (step.answer.empty()) {
        return client->tell(step.line);
    }
    const auto answer = client->ask(step.line, step.answer, Deadline::after(step.deadline));
    if (!answer) {
        return hp::fail(
            fmt::format("{}; its last line: {}", answer.error().message, client->last_line()));
    }
    return answer->bad == 0 ? hp::Result<void>() : hp::fail(answer->text);
}

hp::Result<void> RowSteps::perform(const StopStep& step) {
    GuestClient* client = state_.find_client(step.client);
    // What it had to say is judged, although it is gone then.
    const auto wrong = client->bad();
    const std::string last_line = client->last_line();
    if (client->role() == Role::bystander) {
        const auto& episodes = state_.result.episodes;
        const auto troubles = client->troubles(episodes.empty() ? Clock::time_point::min()
                                                                : episodes.front().loss.event);
        state_.stopped_bystanders.emplace(client->name(), troubles);
    }
    if (const auto stuck = stop_all({client, 1}); !stuck.empty()) {
        return hp::fail(stuck.front());
    }
    if (wrong != 0) {
        return hp::fail(fmt::format("had {} wrong results, its last line: {}", wrong, last_line));
    }
    std::erase_if(state_.clients,
                  [&](const GuestClient& other) { return other.name() == step.client; });
    return {};
}

hp::Result<void> RowSteps::perform(const AwaitStep& step) {
    GuestClient* client = state_.find_client(step.client);
    const auto end = client->wait_end(Deadline::after(step.deadline));
    if (!end) {
        return hp::fail(
            fmt::format("{}; its last line: {}", end.error().message, client->last_line()));
    }
    if (end->status != 0) {
        return hp::fail(
            fmt::format("status {}; its last line: {}", end->status, client->last_line()));
    }
    return {};
}

hp::Result<void> RowSteps::perform(const EmulateStep& step) {
    const size_t slot = state_.target(step.on).slot;
    if (step.hostile()) {
        state_.hostile.insert(slot);
        state_.lying.insert(slot);
    } else {
        state_.faulty = true;
    }
    return state_.bed.emulate(slot, step.request).map([](const nlohmann::json&) {});
}

hp::Result<void> RowSteps::perform(const AskStep& step) {
    const auto answer = state_.bed.emulate(state_.target(step.on).slot, step.request);
    if (!answer) {
        return tl::unexpected(answer.error());
    }
    for (const auto& [pointer, value] : step.is) {
        const nlohmann::json::json_pointer place(pointer);
        if (!answer->contains(place) || answer->at(place) != value) {
            return hp::fail(fmt::format("{} is not {}: {}", pointer, value.dump(), answer->dump()));
        }
    }
    const nlohmann::json before = std::exchange(answers_[step.on], *answer);
    for (const auto& [pointer, growth] : step.more) {
        const auto had = number_at(before, pointer), has = number_at(*answer, pointer);
        if (!had || !has || *has < *had || *has - *had < growth) {
            return hp::fail(fmt::format("{} has not grown by {}: {}, before {}", pointer, growth,
                                        answer->dump(), before.dump()));
        }
    }
    return {};
}

hp::Result<void> RowSteps::perform(const LoseStep& step) {
    state_.lost = true;
    Episode episode;
    episode.loss.loss = step.loss;
    episode.loss.bdf = state_.victim.gpu.bdf;
    episode.loss.event = Clock::now();
    episode.loss.kernel_log_from = state_.bed.kernel_log_size();
    LossOptions options;
    options.overdue = state_.limits.removal;
    options.ones_before_event = step.ones.value_or(options.ones_before_event);
    options.during = state_.expand(step.during);
    options.meanwhile = state_.expand(step.meanwhile);
    options.access = state_.row.access;
    auto before = state_.bed.state();
    if (!before) {
        return tl::unexpected(before.error());
    }
    state_.before_loss = std::move(*before);
    const auto longest =
        std::max(state_.row.watch.value_or(state_.limits.watch), state_.limits.removal);
    if (wants(Check::removed)) {
        // The row fails from here on, and how late the removal is may take a minute to find out.
        options.when_overdue = [&, longest] {
            const std::chrono::duration<double> limit = state_.limits.removal;
            const std::chrono::duration<double> watched = longest;
            progress_.note(fmt::format(
                "{} fails: the removal has not returned after {:.0f} s. It is watched for {:.0f} s",
                state_.row.id(), limit.count(), watched.count()));
        };
    }
    auto at_work =
        wants(Check::clients_released) ? observer_.clients_at_work() : std::vector<VictimClient>();
    auto loss = state_.bed.lose(state_.victim.slot, step.loss, Deadline::after(longest), options);
    if (loss) {
        episode.loss = std::move(*loss);
        observer_.meanwhile(step, episode.loss);
    } else {
        // Most likely the guest as a whole hangs. What the host knows is still worth judging.
        episode.loss.stuck = loss.error().message;
        state_.silent = !state_.bed.run({"true"}, open_deadline);
    }
    if (!at_work.empty()) {
        episode.clients = std::move(at_work);
        observer_.clients(episode);
    }
    observer_.fences(episode);
    episode.last_kernel_line = observer_.last_kernel_line(episode);
    state_.result.episodes.push_back(std::move(episode));
    return loss ? hp::Result<void>() : tl::unexpected(loss.error());
}

hp::Result<void> RowSteps::perform(const RecoverStep& step) {
    // Another row's recovery would fail for it.
    state_.faulty = state_.faulty || step.replacement.second_function;
    Episode& episode = state_.result.episodes.back();
    // Counted now: a board put back answers again, and its accesses are no longer late ones.
    if (auto counted = observer_.accesses(); !counted) {
        return counted;
    }
    if (!episode.loss.stuck.empty()) {
        episode.replug_failure = "not tried: the removal has not returned";
        return {};
    }
    if (auto seen = observer_.orphans(); !seen) {
        return seen;
    }
    auto replug = state_.bed.recover(state_.victim.slot, episode.loss.loss, step.replacement,
                                     watch(state_.limits.replug));
    if (!replug) {
        return tl::unexpected(replug.error());
    }
    episode.replug = std::move(*replug);
    if (!episode.replug->refused.empty()) {
        episode.replug_failure = "refused: " + episode.replug->refused;
    } else if (!episode.replug->ready) {
        episode.replug_failure = episode.replug->stuck;
    }
    if (empties_slot(episode.loss.loss)) {
        state_.lying.erase(state_.victim.slot);  // another board
    }
    if (!episode.replug_failure.empty()) {
        episode.replug_failure += observer_.first_kernel_words(*episode.replug);
        return {};
    }
    state_.lost = false;
    return run_first_jobs(episode);
}

hp::Result<void> RowSteps::perform(const ShellStep& step) {
    if (auto seen = observer_.orphans(); !seen) {
        return seen;
    }
    std::vector<std::string> command;
    for (const std::string& word : step.argv()) {
        command.push_back(state_.expand(word));
    }
    const auto run = state_.bed.run(command, step.deadline);
    if (!run) {
        return tl::unexpected(run.error());
    }
    if (run->cut) {
        state_.result.cut_output.push_back(describe(Step(step)));
    }
    const auto tests = parse_ktap(run->out);
    state_.result.tests.insert(state_.result.tests.end(), tests.begin(), tests.end());
    const bool ended = !run->timed_out && run->status == step.status;
    const bool said = run->out.find(step.output) != std::string::npos;
    if (!step.reaches.empty()) {
        state_.result.reached[step.reaches] = ended && said;
    }
    const bool may_differ = !step.reaches.empty() && !run->timed_out;
    if (!ended && !may_differ) {
        return hp::fail(fmt::format("status {} instead of {}: {}",
                                    run->timed_out ? "'timed out'" : std::to_string(run->status),
                                    step.status, output_of(*run)));
    }
    if (!said && !may_differ) {
        return hp::fail(fmt::format("'{}' is not in its output: {}", step.output, output_of(*run)));
    }
    for (const TestResult& test : tests) {
        if (test.outcome == TestOutcome::fail) {
            return hp::fail(fmt::format("test {} failed: {}", test.name, output_of(*run)));
        }
    }
    return {};
}

hp::Result<void> RowSteps::perform(const WaitStep& step) {
    return state_.bed.wait_kernel_text(state_.log_from, state_.expand(step.text),
                                       Deadline::after(step.deadline));
}

hp::Result<void> RowSteps::perform(const ExpectStep& step) {
    judge_.judge(step.checks);
    return {};
}

hp::Result<void> RowSteps::perform(const SettleStep& step) {
    Deadline::after(step.time).pause(step.time);
    return {};
}

hp::Result<void> RowSteps::run_first_jobs(Episode& episode) {
    if (auto found = state_.find_target(state_.victim); !found) {
        return found;
    }
    const GpuTarget& gpu = state_.victim.gpu;
    const std::vector<std::string> jobs[] = {
        {"drm_submitter", gpu.node, "--count", "10"},
        {"hsa_queue", "--gpu-id", std::to_string(gpu.gpu_id), "--count", "10"},
    };
    for (const auto& argv : jobs) {
        const auto job = state_.bed.run(argv, first_job_deadline);
        if (!job) {
            return tl::unexpected(job.error());
        }
        if (job->status != 0 || job->timed_out) {
            episode.replug_failure = fmt::format(
                "{} on the new GPU {}: {}", argv.front(),
                job->timed_out ? "did not end" : fmt::format("failed ({})", job->status),
                output_of(*job));
            return {};
        }
        if (!episode.first_job) {
            episode.first_job = std::chrono::duration_cast<std::chrono::microseconds>(
                Clock::now() - episode.replug->event);
        }
    }
    return {};
}

}  // namespace hotplug
