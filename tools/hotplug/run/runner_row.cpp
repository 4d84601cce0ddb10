// SPDX-License-Identifier: GPL-2.0
// Purpose: see runner_row.h.
// Thread: one at a time.
#include "hotplug/run/runner_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "hotplug/judge/check.h"

namespace hotplug {

namespace {

using Clock = Deadline::Clock;

/// An open of /dev/kfd takes milliseconds, or for ever behind a removal that is stuck.
constexpr auto kOpenDeadline = std::chrono::seconds(10);
constexpr auto kFirstJobDeadline = std::chrono::seconds(30);
/// An end that the guest has seen is told to the host within this.
constexpr auto kNewsDelay = std::chrono::seconds(1);
constexpr auto kSettlePause = std::chrono::milliseconds(250);
constexpr unsigned kKmemleakCycles = 8;
/// The caches that the agent counts (system_state.cpp) give back what is free: half-filled slabs,
/// per-CPU lists, the quarantine of KASAN. Then a single object can be told from noise.
constexpr const char* kShrinkCaches =
    "cd /sys/kernel/slab && for cache in *drm* *gpu* *kfd* *ttm* *sched_fence* *dma_buf* "
    "kernfs_node_cache mm_struct pid; do "
    "[ ! -e $cache/shrink ] || echo 1 > $cache/shrink || exit; done";
constexpr auto kShrinkDeadline = std::chrono::seconds(60);

/// What a program printed, on one line as far as it can be.
std::string output_of(const RunResult& run) {
    std::string text = run.out + run.err;
    text.erase(text.find_last_not_of(" \n") + 1);
    return text;
}

/// How long a replug or a client is watched: half as long again as its limit, so that a miss has a
/// figure.
Deadline watch(std::chrono::milliseconds limit) {
    return Deadline::after(limit * 3 / 2);
}

std::string seconds_text(std::chrono::milliseconds time) {
    return fmt::format("{:.1f} s", static_cast<double>(time.count()) / 1000);
}

std::optional<uint64_t> number_at(const nlohmann::json& answer, const std::string& pointer) {
    const nlohmann::json::json_pointer place(pointer);
    if (!answer.contains(place) || !answer.at(place).is_number_unsigned()) {
        return std::nullopt;
    }
    return answer.at(place).get<uint64_t>();
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
    for (size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

}  // namespace

RowRun::RowRun(Testbed& bed, const Row& row, Progress& progress, GuestHistory& history)
    : bed_(bed),
      row_(row),
      scenario_(*row.scenario),
      limits_(bed.facts().flavour() == "debug" ? scenario_.limits.doubled() : scenario_.limits),
      progress_(progress),
      history_(history) {
    victim_.slot = row.victim_slot();
    bystander_.slot = row.bystander_slot();
    result_.id = row.id();
    result_.expected_key = row.expected_key();
    result_.cycle = row.cycle;
    result_.scenario_file = scenario_.file;
    result_.description = scenario_.description;
}

RowResult RowRun::run() {
    const auto start = Clock::now();
    log_from_ = bed_.kernel_log_size();
    if (auto begun = begin(); !begun) {
        step_failure_ = begun.error().message;
    }
    for (const Step& step : row_.steps()) {
        if (!step_failure_.empty() || Deadline::interrupted()) {
            break;
        }
        progress_.step_started(describe(step));
        const auto done = std::visit([&](const auto& verb) { return perform(verb); }, step);
        if (!done) {
            step_failure_ = fmt::format("step '{}': {}", describe(step), done.error().message);
        }
    }
    end();
    result_.unfit = unfit_;
    result_.duration = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
    return std::move(result_);
}

hp::Result<void> RowRun::begin() {
    auto state = bed_.state();
    if (!state) {
        return tl::unexpected(state.error());
    }
    before_ = std::move(*state);
    if (auto found = find_target(victim_); !found) {
        return found;
    }
    victim_at_start_ = victim_.gpu;
    if (scenario_.requires_.gpus > 1) {
        return find_target(bystander_);
    }
    return {};
}

hp::Result<void> RowRun::find_target(Target& target) {
    const auto bdf = bed_.bdf(target.slot);
    if (!bdf) {
        return tl::unexpected(bdf.error());
    }
    const auto state = bed_.state();
    if (!state) {
        return tl::unexpected(state.error());
    }
    target.gpu = {*bdf, "", 0};
    if (const DrmNode* node = state->find_drm(*bdf)) {
        target.gpu.node = "/dev/dri/" + node->minor;
    }
    if (const KfdNode* node = state->find_kfd(*bdf)) {
        target.gpu.gpu_id = node->gpu_id;
    }
    return {};
}

std::string RowRun::expand(std::string text) const {
    // The longer names first: $VICTIM is the beginning of $VICTIM_NODE.
    replace_all(text, "$VICTIM_NODE", victim_at_start_.node);
    replace_all(text, "$VICTIM_ID", std::to_string(victim_at_start_.gpu_id));
    replace_all(text, "$VICTIM", victim_at_start_.bdf);
    replace_all(text, "$BYSTANDER_NODE", bystander_.gpu.node);
    replace_all(text, "$BYSTANDER", bystander_.gpu.bdf);
    return text;
}

GuestClient* RowRun::find_client(const std::string& name) {
    // The last of that name: one that was awaited may be followed by another.
    const auto found =
        std::find_if(clients_.rbegin(), clients_.rend(),
                     [&](const GuestClient& client) { return client.name() == name; });
    return found == clients_.rend() ? nullptr : &*found;
}

hp::Result<void> RowRun::perform(const StartStep& step) {
    if (auto seen = observe_orphans(); !seen) {
        return seen;
    }
    std::vector<std::string> options;
    for (const std::string& option : step.options) {
        options.push_back(expand(option));
    }
    auto client = GuestClient::start(bed_, step, target(step.on).gpu, options);
    if (!client) {
        return tl::unexpected(client.error());
    }
    clients_.push_back(std::move(*client));
    return {};
}

hp::Result<void> RowRun::perform(const TellStep& step) {
    GuestClient* client = find_client(step.client);
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

hp::Result<void> RowRun::perform(const StopStep& step) {
    GuestClient* client = find_client(step.client);
    if (const auto stuck = stop_all({client, 1}); !stuck.empty()) {
        return hp::fail(stuck.front());
    }
    std::erase_if(clients_, [&](const GuestClient& other) { return other.name() == step.client; });
    return {};
}

hp::Result<void> RowRun::perform(const AwaitStep& step) {
    GuestClient* client = find_client(step.client);
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

hp::Result<void> RowRun::perform(const EmulateStep& step) {
    const size_t slot = target(step.on).slot;
    if (step.hostile()) {
        hostile_.insert(slot);
        lying_.insert(slot);
    } else {
        faulty_ = true;
    }
    return bed_.emulate(slot, step.request).map([](const nlohmann::json&) {});
}

hp::Result<void> RowRun::perform(const AskStep& step) {
    const auto answer = bed_.emulate(target(step.on).slot, step.request);
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

bool RowRun::wants(Check check) const {
    const auto steps = row_.steps();
    return std::find(scenario_.checks.begin(), scenario_.checks.end(), check) !=
               scenario_.checks.end() ||
           std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
               const auto* expect = std::get_if<ExpectStep>(&step);
               return expect != nullptr && std::find(expect->checks.begin(), expect->checks.end(),
                                                     check) != expect->checks.end();
           });
}

hp::Result<void> RowRun::perform(const LoseStep& step) {
    lost_ = true;
    Episode episode;
    episode.loss.loss = step.loss;
    episode.loss.bdf = victim_.gpu.bdf;
    episode.loss.event = Clock::now();
    episode.loss.kernel_log_from = bed_.kernel_log_size();
    LossOptions options;
    options.overdue = limits_.removal;
    options.during = expand(step.during);
    options.meanwhile = expand(step.meanwhile);
    options.access = row_.access;
    auto before = bed_.state();
    if (!before) {
        return tl::unexpected(before.error());
    }
    before_loss_ = std::move(*before);
    const auto longest = std::max(limits_.watch, limits_.removal);
    auto loss = bed_.lose(victim_.slot, step.loss, Deadline::after(longest), options);
    if (loss) {
        episode.loss = std::move(*loss);
        observe_meanwhile(step, episode.loss);
    } else {
        // Most likely the guest as a whole hangs. What the host knows is still worth judging.
        episode.loss.stuck = loss.error().message;
        silent_ = !bed_.run({"true"}, kOpenDeadline);
    }
    if (wants(Check::clients_released) && ends_clients(step.loss)) {
        observe_clients(episode);
    }
    observe_fences(episode);
    episode.last_kernel_line = last_kernel_line(episode);
    result_.episodes.push_back(std::move(episode));
    return loss ? hp::Result<void>() : tl::unexpected(loss.error());
}

void RowRun::observe_meanwhile(const LoseStep& step, const LossTimeline& loss) {
    if (!loss.meanwhile) {
        return;
    }
    const auto announced = loss.announced.value_or(std::chrono::microseconds(0));
    const auto rest = step.meanwhile_deadline - (Clock::now() - loss.event - announced);
    const auto end = bed_.wait_exit(*loss.meanwhile,
                                    Deadline::after(std::max<Clock::duration>(rest, kNewsDelay)));
    const auto fail = [&](const std::string& why) {
        held_up_ = fmt::format("during '{}', '{}': {}", describe(step), step.meanwhile, why);
        mark_unfit(held_up_);
    };
    const std::string allowed = seconds_text(step.meanwhile_deadline);
    if (!end) {
        return fail("has not ended after " + allowed);
    }
    const uint64_t from = loss.event_guest_us + static_cast<uint64_t>(announced.count());
    const std::chrono::milliseconds took((end->time_us - std::min(from, end->time_us)) / 1000);
    if (took > step.meanwhile_deadline) {
        return fail(fmt::format("took {}, allowed are {}", seconds_text(took), allowed));
    }
    if (end->status != 0) {
        const JobView job = bed_.job(*loss.meanwhile);
        fail(fmt::format("status {}: {}", end->status,
                         job.lines.empty() ? "" : job.lines.back().text));
    }
}

void RowRun::observe_clients(Episode& episode) {
    const auto elapsed = Clock::now() - episode.loss.event;
    const auto rest = limits_.clients * 3 / 2 - elapsed;
    const Deadline deadline = Deadline::after(std::max<Clock::duration>(rest, kNewsDelay));
    for (GuestClient& client : clients_) {
        if (client.role() != Role::victim || !client.worker()) {
            continue;
        }
        if (const auto end = client.wait_end(deadline)) {
            const uint64_t event = episode.loss.event_guest_us;
            const std::chrono::microseconds after(end->time_us > event ? end->time_us - event : 0);
            episode.clients_released = std::max(episode.clients_released.value_or(after), after);
            if (const auto signal = client.killed_by()) {
                episode.killed.push_back(fmt::format("{} ended by signal {}, its last line: {}",
                                                     client.name(), *signal, client.last_line()));
            }
        } else {
            episode.still_held.push_back(fmt::format("{} was not released, its last line: {}",
                                                     client.name(), client.last_line()));
        }
    }
    if (!episode.still_held.empty()) {
        episode.clients_released.reset();
    }
}

void RowRun::observe_fences(Episode& episode) const {
    for (const GuestClient& client : clients_) {
        const auto fence = client.failed_fence();
        if (client.role() != Role::victim || !fence) {
            continue;
        }
        const uint64_t event = episode.loss.event_guest_us;
        const uint64_t after = fence->time_us > event ? fence->time_us - event : 0;
        episode.fences.push_back({client.name(), std::chrono::microseconds(after), fence->status});
    }
}

/// Asked before each step that may make a driver take minors for a new instance. Not before a
/// client is stopped: rows that close a file at a given moment have none to lose.
hp::Result<void> RowRun::observe_orphans() {
    const auto state = bed_.state();
    if (!state) {
        return tl::unexpected(state.error());
    }
    for (const OrphanedNode& node : state->drm_orphans) {
        orphans_.insert(node.minor);
    }
    // KFD gives each process all GPUs when it opens, so that it holds the instance, too.
    if (lost_ && !result_.episodes.empty() && !state->kfd_users.empty()) {
        orphans_.insert(fmt::format("/dev/kfd of {}", result_.episodes.back().loss.bdf));
    }
    return {};
}

hp::Result<void> RowRun::observe_accesses() {
    auto accesses = bed_.absent_accesses(victim_.slot);
    if (!accesses) {
        return tl::unexpected(accesses.error());
    }
    result_.episodes.back().accesses = std::move(*accesses);
    return {};
}

void RowRun::observe_mutations() {
    for (const size_t slot : hostile_) {
        if (const auto told = bed_.mutations(slot)) {
            result_.mutations = result_.mutations.value_or(0) + *told;
        } else {
            mark_unfit(told.error().message);
        }
    }
}

std::string RowRun::last_kernel_line(const Episode& episode) {
    std::string last;
    for (const KernelLine& line : bed_.kernel_log(episode.loss.kernel_log_from)) {
        if (line.text.find(episode.loss.bdf) != std::string::npos) {
            last = format_record(line.time_us, line.text);
        }
    }
    return last;
}

hp::Result<void> RowRun::perform(const RecoverStep& step) {
    Episode& episode = result_.episodes.back();
    // Counted now: a board put back answers again, and its accesses are no longer late ones.
    if (auto counted = observe_accesses(); !counted) {
        return counted;
    }
    if (!episode.loss.stuck.empty()) {
        episode.replug_failure = "not tried: the removal has not returned";
        return {};
    }
    if (auto seen = observe_orphans(); !seen) {
        return seen;
    }
    auto replug =
        bed_.recover(victim_.slot, episode.loss.loss, step.replacement, watch(limits_.replug));
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
        lying_.erase(victim_.slot);  // another board
    }
    if (!episode.replug_failure.empty()) {
        episode.replug_failure += first_kernel_words(*episode.replug);
        return {};
    }
    lost_ = false;
    return run_first_jobs(episode);
}

/// What the kernel said first about a replug that failed: a complaint if there is one, else an
/// error line.
std::string RowRun::first_kernel_words(const ReplugTimeline& replug) {
    const auto log = classify(bed_.kernel_log(replug.kernel_log_from));
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

hp::Result<void> RowRun::run_first_jobs(Episode& episode) {
    if (auto found = find_target(victim_); !found) {
        return found;
    }
    const GpuTarget& gpu = victim_.gpu;
    const std::vector<std::string> jobs[] = {
        {"drm_submitter", gpu.node, "--count", "10"},
        {"hsa_queue", "--gpu-id", std::to_string(gpu.gpu_id), "--count", "10"},
    };
    for (const auto& argv : jobs) {
        const auto job = bed_.run(argv, kFirstJobDeadline);
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

hp::Result<void> RowRun::perform(const ShellStep& step) {
    if (auto seen = observe_orphans(); !seen) {
        return seen;
    }
    const auto run = bed_.run({"sh", "-c", expand(step.command)}, step.deadline);
    if (!run) {
        return tl::unexpected(run.error());
    }
    const auto tests = parse_ktap(run->out);
    result_.tests.insert(result_.tests.end(), tests.begin(), tests.end());
    if (run->timed_out || run->status != step.status) {
        return hp::fail(fmt::format("status {} instead of {}: {}",
                                    run->timed_out ? "'timed out'" : std::to_string(run->status),
                                    step.status, output_of(*run)));
    }
    if (run->out.find(step.output) == std::string::npos) {
        return hp::fail(fmt::format("'{}' is not in its output: {}", step.output, output_of(*run)));
    }
    for (const TestResult& test : tests) {
        if (test.outcome == TestOutcome::fail) {
            return hp::fail(fmt::format("test {} failed: {}", test.name, output_of(*run)));
        }
    }
    return {};
}

hp::Result<void> RowRun::perform(const WaitStep& step) {
    return bed_.wait_kernel_text(log_from_, expand(step.text), Deadline::after(step.deadline));
}

hp::Result<void> RowRun::perform(const ExpectStep& step) {
    judge_again(step.checks);
    return {};
}

hp::Result<void> RowRun::perform(const SettleStep& step) {
    Deadline::after(step.time).pause(step.time);
    return {};
}

void RowRun::judge_again(std::span<const Check> checks) {
    for (const Check check : checks) {
        // The first failure counts, and a check that failed by a deadline would wait for it again.
        if (const CheckResult* earlier = result_.find(check); !earlier || earlier->passed) {
            merge_result(result_.checks, judge_now(check));
        }
    }
}

CheckResult RowRun::judge_now(Check check) {
    const auto& episodes = result_.episodes;
    const bool about_loss = check == Check::removed || check == Check::clients_released ||
                            check == Check::no_access || check == Check::replug;
    if (about_loss && episodes.empty()) {
        return not_reached(check);
    }
    const bool asks_guest =
        check == Check::bystander || check == Check::kfd_usable || check == Check::no_leak;
    if (asks_guest && silent_) {
        return {.check = check,
                .passed = false,
                .value = "no answer",
                .evidence = {"the guest does not answer"}};
    }
    switch (check) {
        case Check::removed: return check_removed(episodes, limits_);
        case Check::clients_released: return check_clients_released(episodes, limits_);
        case Check::no_access:
            if (lost_ && !observe_accesses()) {
                return not_reached(check);
            }
            return check_no_access(episodes, limits_);
        case Check::replug: return check_replug(episodes, limits_);
        case Check::bystander: return judge_bystander();
        case Check::kfd_usable: return judge_kfd();
        case Check::steps: return check_steps(step_failure_.empty() ? held_up_ : step_failure_);
        case Check::log_clean: return check_log_clean(result_.kernel_log);
        case Check::no_leak: return check_no_leak(find_row_leaks());
    }
    return not_reached(check);
}

CheckResult RowRun::judge_bystander() {
    CheckResult result = {.check = Check::bystander};
    std::chrono::milliseconds longest{0};
    const auto loss = result_.episodes.empty() ? Clock::now() : result_.episodes.front().loss.event;
    bool found = false;
    for (GuestClient& client : clients_) {
        if (client.role() != Role::bystander) {
            continue;
        }
        found = true;
        auto troubles = client.troubles(loss);
        if (troubles.empty() && client.worker()) {
            if (auto going = client.wait_progress(Deadline::after(limits_.stall)); !going) {
                troubles.push_back(going.error().message);
            } else {
                const auto stall = client.longest_stall(loss);
                longest = std::max(longest, stall);
                if (stall > limits_.stall) {
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
std::vector<std::string> RowRun::find_evictions() {
    const auto now = bed_.state();
    if (!now) {
        return {now.error().message};
    }
    std::vector<std::string> evictions;
    for (const GuestClient& client : clients_) {
        const uint32_t gpu_id = bystander_.gpu.gpu_id;
        const auto before = before_loss_.evicted_ms(client.pid(), gpu_id);
        const auto after = now->evicted_ms(client.pid(), gpu_id);
        if (client.role() == Role::bystander && before && after && *after > *before) {
            evictions.push_back(fmt::format("{}: its queues were evicted for {} ms", client.name(),
                                            *after - *before));
        }
    }
    return evictions;
}

CheckResult RowRun::judge_kfd() {
    CheckResult result = {.check = Check::kfd_usable, .value = "yes"};
    const auto opened = bed_.run({"sh", "-c", "exec 3<>/dev/kfd"}, kOpenDeadline);
    result.passed = opened && opened->status == 0 && !opened->timed_out;
    if (!result.passed) {
        result.value = "no";
        result.evidence.push_back("open of /dev/kfd: " +
                                  (opened ? output_of(*opened) : opened.error().message));
    }
    return result;
}

std::vector<std::string> RowRun::find_row_leaks() {
    std::vector<std::string> leaks = stop_all(clients_);
    clients_.clear();
    // Releases run in work queues and after RCU grace periods: the guest may take a while to come
    // to rest.
    // One with a removal under way never does.
    const bool stuck =
        std::any_of(result_.episodes.begin(), result_.episodes.end(),
                    [](const Episode& episode) { return !episode.loss.stuck.empty(); });
    const Deadline deadline =
        Deadline::after(stuck ? std::chrono::milliseconds(0) : limits_.settle);
    while (true) {
        auto after = bed_.state();
        if (!after) {
            mark_unfit(after.error().message);
            leaks.push_back("the guest's state could not be read: " + after.error().message);
            return leaks;
        }
        if (bed_.facts().options.contains("CONFIG_KASAN")) {
            // Its quarantine keeps what was freed in the caches; kmemleak judges instead.
            after->slab.clear();
        }
        // In a soak damage is meant to add up: it goes on as long as both GPUs work.
        const auto differences = row_.soak() ? find_obstacles(before_, *after)
                                             : find_differences(before_, *after, orphans_);
        const auto found = find_leaks(before_, *after, orphans_);
        if (!found.empty() && !deadline.expired()) {
            deadline.pause(kSettlePause);
            continue;
        }
        leaks.insert(leaks.end(), found.begin(), found.end());
        for (const std::string& difference : differences) {
            mark_unfit(difference);
        }
        break;
    }
    if (row_.soak()) {
        const auto grown = find_growth();
        leaks.insert(leaks.end(), grown.begin(), grown.end());
    }
    if (bed_.facts().options.contains("CONFIG_DEBUG_KMEMLEAK") && kmemleak_is_due()) {
        const auto reports = bed_.kmemleak();
        if (!reports) {
            leaks.push_back("kmemleak: " + reports.error().message);
            return leaks;
        }
        for (const std::string& report : *reports) {
            if (history_.known_leaks.insert(report).second) {
                leaks.push_back("kmemleak: " + report);
            }
        }
    }
    return leaks;
}

std::vector<std::string> RowRun::find_growth() {
    const auto shrunk = bed_.run({"sh", "-c", kShrinkCaches}, kShrinkDeadline);
    const auto after = bed_.state();
    if (!shrunk || !after) {
        return {"the caches could not be counted: " +
                (shrunk ? after.error().message : shrunk.error().message)};
    }
    if (shrunk->status != 0 || shrunk->timed_out) {
        return {"the caches could not be shrunk: " + output_of(*shrunk)};
    }
    return history_.growth.add_cycle(after->slab);
}

/// A scan takes as long as the rest of a cycle. What leaks in a soak is still there cycles later,
/// as long as the guest is.
bool RowRun::kmemleak_is_due() const {
    return !row_.soak() || row_.last_cycle || row_.cycle % kKmemleakCycles == 0 || !unfit_.empty();
}

void RowRun::mark_unfit(const std::string& why) {
    if (unfit_.empty()) {
        unfit_ = why;
    }
}

void RowRun::end() {
    if (Deadline::interrupted()) {
        mark_unfit("interrupted");
        return;
    }
    progress_.step_started("checks");
    judge_again(scenario_.checks);
    if (lost_) {
        mark_unfit("the GPU is not back");
    }
    observe_mutations();
    if (faulty_ || !lying_.empty()) {
        mark_unfit("an emulator was told to misbehave");
    }
    if (!step_failure_.empty()) {
        mark_unfit(step_failure_);
    }
    // The leak check ends the clients, which may make the kernel complain: the log comes last.
    CheckResult leak = judge_now(Check::no_leak);
    const auto log = bed_.kernel_log(history_.log_judged);
    history_.log_judged += log.size();
    result_.kernel_log = classify(log);
    // After its first report lockdep is off, and so is more: the next row would be judged by less.
    for (const Complaint& complaint : result_.kernel_log.complaints) {
        if (!row_.soak() || is_fatal(complaint.kind)) {
            mark_unfit(complaint.title);
        }
    }
    merge_result(result_.checks, judge_now(Check::steps));
    merge_result(result_.checks, judge_now(Check::log_clean));
    merge_result(result_.checks, std::move(leak));
}

}  // namespace hotplug
