// SPDX-License-Identifier: GPL-2.0
// Purpose: the engine without QEMU: rows on a guest that is made up, good or with one thing wrong.
// Thread: one.
#include "hotplug/run/runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <latch>
#include <map>
#include <mutex>
#include <thread>

#include "hotplug/guest/boot_fitness.h"
#include "hotplug/report/json_report.h"
#include "hotplug/report/report_files.h"
#include "hotplug/run/row_run.h"
#include "lib/temp_tree.h"

namespace hotplug {
namespace {

using Clock = Deadline::Clock;

/// What is wrong with the guest or its driver. Shared by all boots of one factory.
struct Flaws {
    bool stuck = false;  ///< removal never returns
    bool kfd_broken = false;
    bool bystander_dies = false;
    unsigned evicted_ms = 0;    ///< for how long the bystander's queues are at the loss
    bool clients_stay = false;  ///< the victim's workers do not end
    int clients_status = 1;     ///< with which they end
    std::string last_words;     ///< said by them before
    std::string end = R"({"state":"end","reason":"device","errno":19,"bad":0})";  ///< their last
    bool fence_fails = false;
    bool bind_refused = false;
    bool job_fails = false;
    uint64_t accesses = 0;
    uint64_t stray_dma = 0;  ///< more of the bystander's at each question
    std::string complaint;   ///< printed by the kernel at the loss
    std::string error_line;  ///< likewise, with the priority of an error
    uint64_t lies = 10;      ///< told by a hostile victim
    bool node_leaks = false;
    bool nodes_held = false;  ///< a client keeps the victim's node open beyond the loss
    bool kfd_held = false;    ///< a client has /dev/kfd open, and with it all GPUs
    bool minors_leak = false;
    unsigned slab_grows = 0;  ///< by that much with each loss
    bool shrink_fails = false;
    bool boot_fails = false;
    bool lose_fails = false;  ///< the harness cannot do its part
    bool silent = false;      ///< and the guest does not answer
    bool emulator_crashes = false;
    std::chrono::seconds lost_ago{0};  ///< since when the GPU is said to be lost
    std::vector<std::string> kmemleak;
    std::string says;             ///< printed by each program
    bool output_cut = false;      ///< and it was not all that it printed
    bool shell_hangs = false;     ///< a command of the row does not end
    std::string blocked;          ///< the list of tasks in state D, as the guest gives it
    std::string dump_fails;       ///< why the guest's memory cannot be dumped
    bool dump_takes_all = false;  ///< of the time that the run has
    bool lockdep = false;         ///< the kernel has CONFIG_LOCKDEP
    bool lockdep_off = false;     ///< but it has switched itself off
    bool lockdep_mute = false;    ///< nor does it say so
    /// How what runs during a removal ends. The event is at 1 s of the guest's clock.
    std::optional<JobExit> meanwhile = JobExit{0, 2'000'000};
};

struct FakeJob {
    JobView view;
    bool victim = false;
};

class FakeTestbed final : public Testbed {
public:
    explicit FakeTestbed(Flaws& flaws, std::set<std::string> options = {}) : flaws_(flaws) {
        facts_.options = std::move(options);
        facts_.options_from = "/proc/config.gz";
        facts_.counts_slabs = true;
        facts_.release = "7.3.4";
        facts_.programs = {"lspci"};
        facts_.profile = "mi300x";
        facts_.gpus = 2;
        if (!flaws.kmemleak.empty()) {
            facts_.options = {"CONFIG_DEBUG_KMEMLEAK"};
        }
        if (flaws.lockdep) {
            facts_.options.insert("CONFIG_LOCKDEP");
        }
    }

    const GuestFacts& facts() const override { return facts_; }
    hp::Result<void> end() override {
        return flaws_.emulator_crashes ? hp::fail("the emulator ended with signal 6")
                                       : hp::Result<void>();
    }
    hp::Result<std::string> bdf(size_t slot) override { return bdf_of(slot); }

    hp::Result<GuestState> state() override {
        GuestState state;
        state.taint = log_.empty() ? 0 : 512;
        for (size_t slot = 0; slot < 2; ++slot) {
            const std::string bdf = bdf_of(slot);
            const bool there = !lost_[slot];
            if (there) {
                state.pci.push_back({bdf, 0x1002, 0x74a1, 0x120000, "amdgpu"});
                KfdNode node;
                node.gpu_id = 100 + static_cast<uint32_t>(slot);
                node.location_id = static_cast<uint32_t>(slot + 1) << 8;
                state.kfd_nodes.push_back(node);
            }
            if (there || flaws_.node_leaks) {
                state.drm.push_back({"renderD" + std::to_string(128 + slot), "render", bdf});
            }
        }
        const bool client = std::any_of(jobs_.begin(), jobs_.end(),
                                        [](const auto& job) { return !job.second.view.exit; });
        if (flaws_.nodes_held && lost_once_ && client) {
            state.drm_orphans = {{"renderD128", {"sh (7)"}}};
        }
        if (flaws_.kfd_held && client) {
            state.kfd_users = {"kfd_monitor (7)"};
        }
        for (const auto& [id, job] : jobs_) {
            const uint64_t evicted = 3 + (lost_once_ ? flaws_.evicted_ms : 0);
            state.kfd_evictions.push_back({job.view.pid, 101, job.victim ? 9 * evicted : evicted});
        }
        // The new instance cannot have the minor that is held when it is made.
        const bool higher =
            (flaws_.nodes_held || flaws_.kfd_held || flaws_.minors_leak) && lost_once_;
        state.drm_minor_max = higher ? 130 : 129;
        state.slab = {{"drm_sched_fence", 10 + losses_ * flaws_.slab_grows}};
        return state;
    }

    hp::Result<std::vector<std::string>> kmemleak() override { return flaws_.kmemleak; }

    hp::Result<RunResult> run(const std::vector<std::string>& argv,
                              std::chrono::milliseconds) override {
        if (argv.back().find("drop_caches") != std::string::npos) {  // for the leak check
            RunResult shrunk;
            shrunk.status = flaws_.shrink_fails ? 1 : 0;
            shrunk.err = "sh: write error";
            return shrunk;
        }
        if (argv.back().find("/proc/[0-9]*/task") != std::string::npos) {
            RunResult list;
            list.out = flaws_.blocked;
            return flaws_.silent ? hp::fail("no answer") : hp::Result<RunResult>(list);
        }
        ran.push_back(argv);
        if (flaws_.silent && argv.front() == "true") {
            return hp::fail("no answer");
        }
        RunResult result;
        if (argv.back() == "/proc/lockdep_stats") {
            if (flaws_.lockdep && !flaws_.lockdep_mute) {
                result.out = fmt::format(" debug_locks:     {}\n", flaws_.lockdep_off ? 0 : 1);
            }
            return result;
        }
        if (argv.back().find("/dev/kfd") != std::string::npos && flaws_.kfd_broken) {
            result.status = 1;
            result.err = "can't open /dev/kfd: Invalid argument";
        }
        if (argv.front() == "drm_submitter" && flaws_.job_fails) {
            result.status = 1;
            result.out = "ring test failed";
        }
        result.timed_out = argv.front() == "sh" && flaws_.shell_hangs;
        result.out += "said 0000:01:00.0\n" + flaws_.says;
        result.cut = flaws_.output_cut;
        return result;
    }

    hp::Result<LossTimeline> lose(size_t slot, Loss loss, Deadline deadline,
                                  const LossOptions& options) override {
        watched = deadline.remaining();
        overdue = options.overdue;
        lost_with = options;
        if (flaws_.stuck && options.when_overdue) {
            options.when_overdue();
        }
        if (flaws_.lose_fails) {
            return hp::fail("QEMU ended");
        }
        LossTimeline timeline;
        timeline.loss = loss;
        timeline.bdf = bdf_of(slot);
        timeline.event = Clock::now() - flaws_.lost_ago;
        timeline.event_guest_us = 1'000'000;
        timeline.kernel_log_from = log_.size();
        if (!flaws_.complaint.empty()) {
            log(flaws_.complaint);
        }
        if (!flaws_.error_line.empty()) {
            log(flaws_.error_line, 3);
        }
        lost_[slot] = lost_once_ = true;
        ++losses_;
        for (auto& [id, job] : jobs_) {
            if (job.victim && flaws_.fence_fails) {
                job.view.lines.push_back(
                    {Clock::now(), R"({"state":"fence","status":-19,"time_us":1012500})"});
            }
            if (job.victim && !flaws_.last_words.empty()) {
                job.view.lines.push_back({Clock::now(), flaws_.last_words});
            }
            if (job.victim && !flaws_.clients_stay) {
                job.view.lines.push_back({Clock::now(), flaws_.end});
            }
            if (job.victim ? !flaws_.clients_stay : flaws_.bystander_dies) {
                job.view.exit = JobExit{flaws_.clients_status, 1'200'000};
            }
        }
        if (!options.meanwhile.empty()) {
            timeline.announced = std::chrono::milliseconds(100);
            timeline.meanwhile = ++last_job_;
            jobs_[last_job_].view.exit = flaws_.meanwhile;
            jobs_[last_job_].view.lines = {{Clock::now(), "Device or resource busy"}};
        }
        if (flaws_.stuck) {
            timeline.stuck = "still there";
        } else {
            timeline.remove_returned = std::chrono::milliseconds(900);
        }
        return timeline;
    }

    hp::Result<ReplugTimeline> recover(size_t slot, Loss, const Replacement& replacement,
                                       Deadline) override {
        replacements.push_back(replacement);
        ReplugTimeline timeline;
        timeline.bdf = bdf_of(slot);
        timeline.event = Clock::now();
        timeline.kernel_log_from = log_.size();
        if (flaws_.bind_refused) {
            timeline.refused = "File exists";
            return timeline;
        }
        lost_[slot] = false;
        timeline.ready = std::chrono::seconds(1);
        return timeline;
    }

    hp::Result<nlohmann::json> emulate(size_t slot, const nlohmann::json& request) override {
        requests.emplace_back(slot, request);
        if (request.at("do") == "vanish") {
            for (auto& [id, job] : jobs_) {
                job.view.exit = JobExit{flaws_.job_fails ? 1 : 0, 1'200'000};
            }
        }
        if (request.at("do") == "explode") {
            return hp::fail("unknown request");
        }
        const auto reads = static_cast<unsigned>(3 * requests.size());
        return nlohmann::json{{"state", "present"}, {"hive", {{"reads", reads}, {"peers", {1U}}}}};
    }
    hp::Result<Lies> lies(size_t slot) override {
        return Lies{flaws_.lies + slot, {{"registers", {.asked = 30, .told = {5, 7}}}}};
    }
    hp::Result<AbsentAccesses> absent_accesses(size_t) override {
        AbsentAccesses accesses;
        accesses.black_hole = flaws_.accesses;
        return accesses;
    }
    hp::Result<std::vector<StrayDma>> stray_dma() override {
        // As many at each question as there were at it.
        std::vector<StrayDma> by_slot(2);
        by_slot[1].count = flaws_.stray_dma * ++asked_for_stray_dma_;
        return by_slot;
    }

    hp::Result<JobId> spawn(const std::string& name,
                            const std::vector<std::string>& argv) override {
        ran.push_back(argv);
        FakeJob job;
        job.view.name = name;
        job.view.pid = static_cast<int>(40 + last_job_);
        job.victim = !name.ends_with("@bystander");
        jobs_[++last_job_] = job;
        return last_job_;
    }
    hp::Result<void> signal(JobId id, int) override {
        jobs_.at(id).view.exit = JobExit{-SIGTERM, 2'000'000};
        return {};
    }
    hp::Result<void> job_input(JobId id, const std::string& line) override {
        jobs_.at(id).view.lines.push_back({Clock::now(), line});
        return {};
    }
    JobView job(JobId id) override { return jobs_.at(id).view; }
    hp::Result<JobExit> wait_exit(JobId id, Deadline) override {
        const auto& exit = jobs_.at(id).view.exit;
        return exit ? hp::Result<JobExit>(*exit) : hp::fail("it goes on");
    }
    hp::Result<OutputLine> wait_output(JobId id, size_t from,
                                       const std::function<bool(const std::string&)>& wanted,
                                       std::string_view awaited, Deadline) override {
        const auto& lines = jobs_.at(id).view.lines;
        for (size_t i = from; i < lines.size(); ++i) {
            if (wanted(lines[i].text)) {
                return lines[i];
            }
        }
        for (const char* line : {R"({"state":"ready"})", R"({"state":"progress","done":1})"}) {
            if (!jobs_.at(id).view.exit && wanted(line)) {
                jobs_.at(id).view.lines.push_back({Clock::now(), line});
                return jobs_.at(id).view.lines.back();
            }
        }
        return hp::fail("waited for " + std::string(awaited));
    }

    size_t kernel_log_size() override { return log_.size(); }
    std::vector<KernelLine> kernel_log(size_t from) override {
        if (later_ && Deadline::Clock::now() >= later_->first) {
            log(std::exchange(later_, std::nullopt)->second);
        }
        return {log_.begin() + static_cast<std::ptrdiff_t>(from), log_.end()};
    }
    hp::Result<void> wait_kernel_text(size_t, const std::string& text, Deadline) override {
        return hp::fail("waited for the kernel log line '" + text + "'");
    }

    hp::Result<MemoryDump> dump_memory(const std::filesystem::path& file,
                                       const MemoryDumpLimits&) override {
        if (!flaws_.dump_fails.empty()) {
            return hp::fail(flaws_.dump_fails);
        }
        std::ofstream(file) << "KDUMP";
        if (flaws_.dump_takes_all) {
            Deadline::limit_all(std::chrono::milliseconds(0));
        }
        return MemoryDump{};
    }
    hp::Result<std::string> blocked_tasks_by_console() override {
        return flaws_.silent ? hp::Result<std::string>("task:sh state:D\n")
                             : hp::fail("not asked for");
    }

    /// The kernel says it, so much later.
    void log_later(std::string text, std::chrono::milliseconds delay) {
        later_.emplace(Deadline::Clock::now() + delay, std::move(text));
    }
    /// The kernel says it.
    void log(std::string_view text, int level = 4) {
        log_.push_back({level, log_.size(), 1'500'000, std::string(text)});
    }

    std::vector<std::vector<std::string>> ran;
    std::vector<Replacement> replacements;
    Clock::duration watched{0};
    std::optional<std::chrono::milliseconds> overdue;
    LossOptions lost_with;
    std::vector<std::pair<size_t, nlohmann::json>> requests;

private:
    static std::string bdf_of(size_t slot) { return "0000:0" + std::to_string(slot + 1) + ":00.0"; }

    Flaws& flaws_;
    GuestFacts facts_;
    std::map<size_t, bool> lost_;
    bool lost_once_ = false;
    unsigned losses_ = 0;
    uint64_t asked_for_stray_dma_ = 0;
    std::map<JobId, FakeJob> jobs_;
    JobId last_job_ = 0;
    std::optional<std::pair<Deadline::Clock::time_point, std::string>> later_;
    std::vector<KernelLine> log_;
};

class FakeFactory final : public TestbedFactory {
public:
    hp::Result<std::unique_ptr<Testbed>> boot(const std::filesystem::path& log_dir) override {
        const std::lock_guard held(lock_);
        ++boots;
        if (flaws.boot_fails || bad_boots.contains(boots)) {
            return hp::fail("no hello from the agent");
        }
        std::filesystem::create_directories(log_dir);
        std::ofstream(log_dir / "console.log") << "console";
        auto testbed = std::make_unique<FakeTestbed>(flaws, options);
        bed = testbed.get();
        for (const std::string_view line : boot_logs[boots]) {
            bed->log(line);
        }
        return testbed;
    }

    bool guest_ran(const std::filesystem::path&) const override { return !host_fails; }

    Flaws flaws;
    bool host_fails = false;        ///< a boot that fails does so before there is a guest
    std::set<std::string> options;  ///< of the kernel
    int boots = 0;
    std::set<int> bad_boots;
    std::map<int, std::vector<std::string_view>> boot_logs;  ///< what the kernel says meanwhile
    FakeTestbed* bed = nullptr;                              ///< the last one

private:
    std::mutex lock_;  ///< a run may have several guests
};

class SilentProgress final : public Progress {
public:
    void run_started(size_t) override {}
    void booting() override {}
    void row_started(const std::string&) override {}
    void step_started(const std::string&, const std::string& what) override {
        steps.push_back(what);
    }
    void row_finished(const RowResult&) override {}
    void note(const std::string& text) override { notes.push_back(text); }

    std::vector<std::string> steps;
    std::vector<std::string> notes;
};

class RunnerTest : public testing::Test {
protected:
    RunnerTest() {
        tree_.file("s.json", "{}");
        scenario_.id = "s";
        scenario_.file = results_ / "s.json";
        scenario_.description = "loses a GPU";
        scenario_.steps = {StartStep{"drm_submitter", Role::bystander, {}},
                           StartStep{"drm_submitter", Role::victim, {}}, LoseStep{Loss::surprise},
                           ExpectStep{{Check::kfd_usable}}, RecoverStep{}};
        scenario_.checks = {Check::removed,   Check::clients_released, Check::no_access,
                            Check::bystander, Check::kfd_usable,       Check::replug};
        scenario_.limits.settle = std::chrono::milliseconds(1);
    }

    RunnerConfig config() {
        RunnerConfig made = {
            results_, [&](const GuestFacts&) { return hp::Result<ExpectedFailures>(expected_); }};
        made.late_watch = {};
        return made;
    }
    RunReport run_rows(const std::vector<Row>& rows) {
        Runner runner(factory_, progress_, config());
        return runner.run(rows, {});
    }
    RowResult run_one() {
        RunReport report = run_rows({{&scenario_, nullptr, 0}});
        EXPECT_EQ(report.info.error, "");
        EXPECT_EQ(report.rows.size(), 1U);
        return report.rows.empty() ? RowResult() : report.rows.front();
    }
    /// The checks that failed.
    static std::vector<Check> failures(const RowResult& row) {
        std::vector<Check> failed;
        for (const CheckResult& check : row.checks) {
            if (!check.passed) {
                failed.push_back(check.check);
            }
        }
        return failed;
    }

    hp::TempTree tree_;
    const std::filesystem::path results_ = tree_.root();
    Scenario scenario_;
    FakeFactory factory_;
    SilentProgress progress_;
    ExpectedFailures expected_;
};

using Checks = std::vector<Check>;

TEST_F(RunnerTest, GoodDriverPassesEveryCheck) {
    const RowResult row = run_one();
    EXPECT_EQ(row.outcome, Outcome::pass);
    EXPECT_EQ(failures(row), Checks{});
    EXPECT_EQ(row.checks.size(), 11U);
    EXPECT_EQ(row.find(Check::removed)->value, "0.9 s");
    EXPECT_EQ(row.find(Check::clients_released)->value, "0.2 s");
    EXPECT_EQ(row.find(Check::bystander)->value, "alive, still for 0.0 s");
    EXPECT_TRUE(row.bundle.empty());
    EXPECT_EQ(progress_.steps[2], "lose surprise");
}

TEST_F(RunnerTest, FenceThatFailedIsShownWithItsTimeAfterTheLoss) {
    EXPECT_TRUE(run_one().episodes.at(0).fences.empty());
    factory_.flaws.fence_fails = true;
    const RowResult row = run_one();
    ASSERT_EQ(row.episodes.at(0).fences.size(), 1U);
    const FailedFence& fence = row.episodes[0].fences[0];
    EXPECT_EQ(fence.client, "drm_submitter@victim");
    EXPECT_EQ(fence.after, std::chrono::microseconds(12'500));
    EXPECT_EQ(fence.status, -19);
    EXPECT_EQ(row.outcome, Outcome::pass) << "it is no verdict";
}

TEST_F(RunnerTest, ClientThatASignalEndedWasNotReleased) {
    factory_.flaws.clients_status = -SIGBUS;
    RowResult row = run_one();
    EXPECT_EQ(failures(row), Checks{Check::clients_released});
    EXPECT_EQ(row.find(Check::clients_released)->value, "0.2 s");
    EXPECT_EQ(row.find(Check::clients_released)->evidence[0],
              "drm_submitter@victim ended by signal 7, its last line: " + factory_.flaws.end);

    // Ours handle the signal, and say so.
    factory_.flaws.clients_status = 1;
    factory_.flaws.last_words = R"({"state":"error","op":"SIGBUS","sent":1})";
    row = run_one();
    EXPECT_EQ(failures(row), Checks{Check::clients_released});
    EXPECT_EQ(row.find(Check::clients_released)->evidence[0],
              "drm_submitter@victim ended by signal 7, its last line: " + factory_.flaws.end);

    factory_.flaws.last_words = R"({"state":"error","op":"AMDGPU_CS","errno":19})";
    EXPECT_EQ(failures(run_one()), Checks{}) << "an error is how it is told of the loss";
}

TEST_F(RunnerTest, ClientThatEndsForAnotherReasonWasNotReleased) {
    for (const char* end : {R"({"state":"end","reason":"device","errno":133,"bad":0})",
                            R"({"state":"end","reason":"device","errno":19,"bad":1})",
                            R"({"state":"end","reason":"done","errno":0,"bad":0})", "Killed"}) {
        factory_.flaws.end = end;
        EXPECT_EQ(failures(run_one()), Checks{Check::clients_released}) << end;
    }
}

TEST_F(RunnerTest, ClientThatDiedBeforeTheLossWasNotReleased) {
    const std::vector<Step> steps = scenario_.steps;
    const auto lost = std::find_if(steps.begin(), steps.end(), [](const Step& step) {
        return std::holds_alternative<LoseStep>(step);
    });
    scenario_.steps.assign(steps.begin(), lost);
    scenario_.steps.push_back(EmulateStep{{{"do", "vanish"}}, Role::victim});  // ends the jobs
    scenario_.steps.insert(scenario_.steps.end(), lost, steps.end());
    scenario_.checks = {Check::clients_released};
    factory_.flaws.job_fails = true;
    const RowResult row = run_one();
    EXPECT_FALSE(row.find(Check::clients_released)->passed);
    EXPECT_EQ(row.find(Check::clients_released)->evidence[0].substr(0, 46),
              "drm_submitter@victim had ended before the loss");
}

TEST_F(RunnerTest, AfterAResetClientsMayGoOn) {
    scenario_.steps = {StartStep{"drm_submitter", Role::victim, {}}, LoseStep{Loss::aer_fatal}};
    scenario_.checks = {Check::clients_released};
    factory_.flaws.clients_stay = true;
    const RowResult row = run_one();
    EXPECT_TRUE(row.find(Check::clients_released)->passed);
    EXPECT_EQ(row.find(Check::clients_released)->value, "go on");
    factory_.flaws.clients_stay = false;
    factory_.flaws.end = R"({"state":"end","reason":"device","errno":62,"bad":0})";
    EXPECT_TRUE(run_one().find(Check::clients_released)->passed) << "the reset took its job";
    factory_.flaws.end = R"({"state":"end","reason":"device","errno":22,"bad":0})";
    EXPECT_FALSE(run_one().find(Check::clients_released)->passed);
}

TEST_F(RunnerTest, StoppedClientIsJudgedByWhatItSaid) {
    const TellStep tell{"drm_submitter@bystander", R"({"state":"error","errno":133})"};
    scenario_.steps = {StartStep{"drm_submitter", Role::bystander, {}}, LoseStep{Loss::surprise},
                       tell, StopStep{"drm_submitter@bystander"}, RecoverStep{}};
    scenario_.checks = {Check::bystander};
    EXPECT_EQ(run_one().find(Check::bystander)->evidence,
              std::vector<std::string>{"drm_submitter@bystander: " + tell.line});
    scenario_.steps.erase(scenario_.steps.begin() + 2);
    EXPECT_TRUE(run_one().find(Check::bystander)->passed) << "nothing was wrong with it";
    scenario_.checks = {};
    scenario_.steps = {StartStep{"drm_submitter", Role::victim, {}},
                       TellStep{"drm_submitter@victim", R"({"state":"progress","bad":1})"},
                       StopStep{"drm_submitter@victim"}};
    EXPECT_FALSE(run_one().find(Check::steps)->passed) << "wrong results are wrong everywhere";
}

TEST_F(RunnerTest, RemovalThatNeverReturnsIsNotFollowedByAReplug) {
    factory_.flaws.stuck = true;
    const RowResult row = run_one();
    EXPECT_EQ(row.outcome, Outcome::fail);
    EXPECT_EQ(row.find(Check::removed)->value, "never");
    EXPECT_EQ(row.find(Check::replug)->evidence[0], "not tried: the removal has not returned");
    EXPECT_TRUE(row.find(Check::steps)->passed);
}

TEST_F(RunnerTest, EachFlawFailsItsOwnCheck) {
    const auto failing = [&](auto&& spoil) {
        factory_.flaws = {};
        spoil(factory_.flaws);
        return failures(run_one());
    };
    EXPECT_EQ(failing([](Flaws& f) { f.kfd_broken = true; }), Checks{Check::kfd_usable});
    EXPECT_EQ(failing([](Flaws& f) { f.bystander_dies = true; }), Checks{Check::bystander});
    EXPECT_EQ(failing([](Flaws& f) { f.evicted_ms = 8; }), Checks{Check::bystander});
    EXPECT_EQ(run_one().find(Check::bystander)->evidence,
              std::vector<std::string>{"drm_submitter@bystander: its queues were evicted for 8 ms"})
        << "since the loss, and of no other process";
    EXPECT_EQ(failing([](Flaws& f) { f.clients_stay = true; }), Checks{Check::clients_released});
    EXPECT_EQ(failing([](Flaws& f) { f.accesses = 5; }), Checks{Check::no_access});
    EXPECT_EQ(failing([](Flaws& f) { f.stray_dma = 2; }), Checks{Check::stray_dma});
    EXPECT_EQ(failing([](Flaws& f) { f.job_fails = true; }), Checks{Check::replug});
    EXPECT_EQ(failing([](Flaws& f) { f.bind_refused = true; }), Checks{Check::replug});
    EXPECT_EQ(failing([](Flaws& f) { f.complaint = "BUG: KASAN: x in f+0x1/0x2"; }),
              Checks{Check::log_clean});
    EXPECT_EQ(failing([](Flaws& f) { f.kmemleak = {"unreferenced object"}; }),
              Checks{Check::no_leak});
    EXPECT_EQ(failing([](Flaws& f) {
                  f.lose_fails = true;
                  f.accesses = 5;
              }),
              (Checks{Check::removed, Check::clients_released, Check::no_access, Check::replug,
                      Check::steps}))
        << "a guest that hangs is judged by what the host saw";
    EXPECT_EQ(failing([](Flaws& f) { f.lose_fails = f.silent = true; }).size(), 7U)
        << "one that says nothing any more by nothing else";
}

TEST_F(RunnerTest, NodesOfAGpuThatIsGoneAreALeak) {
    scenario_.steps.pop_back();
    scenario_.checks = {};
    factory_.flaws.node_leaks = true;
    EXPECT_EQ(failures(run_one()), Checks{Check::no_leak});
}

TEST_F(RunnerTest, HigherMinorsAreALeakOnlyWhenNobodyHeldTheOldOnes) {
    factory_.flaws.minors_leak = true;
    EXPECT_EQ(failures(run_one()), Checks{Check::no_leak});
    factory_.flaws = {};
    factory_.flaws.kfd_held = true;
    EXPECT_EQ(failures(run_one()), Checks{});
    factory_.flaws = {};
    factory_.flaws.nodes_held = true;
    const RowResult row = run_one();
    EXPECT_EQ(failures(row), Checks{});
    EXPECT_EQ(row.unfit, "") << "the next row may run on this guest";
    // A program may bring the driver back, too.
    factory_.flaws.clients_stay = true;
    scenario_.checks = {};
    const std::vector<Step> held = {StartStep{"sh", Role::victim, {}},
                                    LoseStep{Loss::driver_unbind}};
    scenario_.steps = held;
    scenario_.steps.insert(scenario_.steps.end(),
                           {ShellStep{"bind", 0, ""}, StopStep{"sh@victim"}, RecoverStep{}});
    EXPECT_EQ(failures(run_one()), Checks{});
    scenario_.steps = held;
    scenario_.steps.insert(scenario_.steps.end(), {StopStep{"sh@victim"}, RecoverStep{}});
    EXPECT_EQ(failures(run_one()), Checks{Check::no_leak}) << "nobody held it by then";
}

TEST_F(RunnerTest, FailedWaitAndShellNameTheStep) {
    scenario_.steps = {ShellStep{"echo $VICTIM", 0, "0000:01:00.0"}, WaitStep{"$VICTIM: gone"}};
    scenario_.checks = {};
    const RowResult row = run_one();
    EXPECT_EQ(row.find(Check::steps)->evidence[0],
              "step 'wait for $VICTIM: gone': waited for the kernel log line '0000:01:00.0: gone'");
}

TEST_F(RunnerTest, ShellChecksStatusAndOutput) {
    scenario_.checks = {};
    scenario_.steps = {ShellStep{"true", 0, "not there"}};
    EXPECT_EQ(run_one().find(Check::steps)->evidence[0],
              "step 'shell true': 'not there' is not in its output: said 0000:01:00.0");
    scenario_.steps = {ShellStep{"true", 1, ""}};
    EXPECT_FALSE(run_one().find(Check::steps)->passed);
}

TEST_F(RunnerTest, ShellThatMayFailSaysHowFarTheRowCame) {
    scenario_.checks = {};
    const auto reaches = [](const char* name, int status, const char* output) {
        ShellStep step = {name, status, output};
        step.reaches = name;
        return step;
    };
    scenario_.steps = {reaches("there", 0, ""), reaches("no-status", 1, ""),
                       reaches("no-output", 0, "not there"), ShellStep{"true", 0, ""}};
    RowResult row = run_one();
    EXPECT_TRUE(row.find(Check::steps)->passed);
    EXPECT_EQ(row.reached, (std::map<std::string, bool>{
                               {"there", true}, {"no-status", false}, {"no-output", false}}));
    EXPECT_EQ(to_json(row).at("reached").dump(),
              R"({"no-output":false,"no-status":false,"there":true})");

    factory_.flaws.shell_hangs = true;
    row = run_one();
    EXPECT_FALSE(row.find(Check::steps)->passed) << "it has to come to an end";
    EXPECT_EQ(row.reached, (std::map<std::string, bool>{{"there", false}}));
}

TEST_F(RunnerTest, TestsThatAShellReportsAreKeptAndJudged) {
    scenario_.checks = {};
    scenario_.steps = {ShellStep{"kunit", 0, ""}, ShellStep{"kunit", 0, ""}};
    factory_.flaws.says = "ok 1 suite.good\nok 2 suite.other # SKIP\n";
    RowResult row = run_one();
    EXPECT_TRUE(row.find(Check::steps)->passed);
    ASSERT_EQ(row.tests.size(), 4U);
    EXPECT_EQ(row.tests[2].name, "suite.good");
    EXPECT_EQ(row.tests[3].outcome, TestOutcome::skip);

    factory_.flaws.says = "not ok 1 suite.bad\n";
    row = run_one();
    EXPECT_EQ(row.find(Check::steps)->evidence[0],
              "step 'shell kunit': test suite.bad failed: said 0000:01:00.0\nnot ok 1 suite.bad")
        << "whatever the program's status says";
    EXPECT_EQ(row.tests.size(), 1U);
    scenario_.steps = {ShellStep{"kunit", 1, ""}};
    EXPECT_EQ(run_one().tests.size(), 1U) << "also of a program that fails";
}

TEST_F(RunnerTest, GuestIsKeptWhileItIsFitAndReplacedAfterAComplaint) {
    const Row row{&scenario_, nullptr, 0};
    EXPECT_EQ(run_rows({row, row, row}).rows.size(), 3U);
    EXPECT_EQ(factory_.boots, 1);

    factory_.boots = 0;
    factory_.flaws.complaint = "WARNING: a.c:1 at f+0x1/0x2";
    EXPECT_EQ(run_rows({row, row}).rows.size(), 2U);
    EXPECT_EQ(factory_.boots, 2);
}

TEST_F(RunnerTest, SoakGoesOnAfterAComplaint) {
    scenario_.cycles = 3;
    factory_.flaws.complaint = "WARNING: a.c:1 at f+0x1/0x2";
    const RunReport report = run_rows({{&scenario_, nullptr, 1}, {&scenario_, nullptr, 3}});
    ASSERT_EQ(report.rows.size(), 2U);
    EXPECT_EQ(factory_.boots, 1);
    EXPECT_EQ(report.rows[1].kernel_log.complaints.size(), 1U) << "each cycle has its own";
}

TEST_F(RunnerTest, SoakAsksForLeaksInEachEighthCycleAndInTheLast) {
    scenario_.cycles = 9;
    factory_.flaws.kmemleak = {"unreferenced object"};
    std::vector<Row> rows;
    for (const unsigned cycle : {1U, 7U, 8U}) {
        rows.push_back({&scenario_, nullptr, cycle});
    }
    const RunReport report = run_rows(rows);
    ASSERT_EQ(report.rows.size(), 3U);
    EXPECT_TRUE(report.rows[0].find(Check::no_leak)->passed);
    EXPECT_TRUE(report.rows[1].find(Check::no_leak)->passed);
    EXPECT_FALSE(report.rows[2].find(Check::no_leak)->passed);
    const RunReport last = run_rows({{&scenario_, nullptr, 9, 0, true}});
    EXPECT_FALSE(last.rows.at(0).find(Check::no_leak)->passed);
}

TEST_F(RunnerTest, SoakFindsWhatGrowsWithEachCycle) {
    scenario_.cycles = 16;
    factory_.flaws.slab_grows = 1;
    std::vector<Row> rows;
    for (unsigned cycle = 1; cycle <= 16; ++cycle) {
        rows.push_back({&scenario_, nullptr, cycle});
    }
    const RunReport report = run_rows(rows);
    ASSERT_EQ(report.rows.size(), 16U);
    EXPECT_TRUE(report.rows[14].find(Check::no_leak)->passed) << "as much as a row may leave";
    EXPECT_EQ(report.rows[15].find(Check::no_leak)->evidence,
              std::vector<std::string>{
                  "slab drm_sched_fence grows: 26 objects, 11 cycles ago 15: 1.0 a cycle"});
}

TEST_F(RunnerTest, CachesAreCountedOnADebugKernelToo) {
    scenario_.requires_.kernel_options = {"CONFIG_KASAN"};
    factory_.options = {"CONFIG_KASAN"};
    factory_.flaws.slab_grows = 181;
    EXPECT_EQ(run_one().find(Check::no_leak)->evidence,
              std::vector<std::string>{"slab drm_sched_fence: 191 objects, 10 before"});
}

TEST_F(RunnerTest, ObjectsAreNotCountedWhereARemovalHangs) {
    factory_.flaws.slab_grows = 5'000;
    factory_.flaws.stuck = true;
    const RowResult row = run_one();
    EXPECT_TRUE(row.find(Check::no_leak)->passed);
    EXPECT_FALSE(row.find(Check::removed)->passed);
}

TEST_F(RunnerTest, CachesGiveBackWhatIsFreeBeforeTheyAreCounted) {
    factory_.flaws.shrink_fails = true;
    const RowResult row = run_one();
    EXPECT_EQ(
        row.find(Check::steps)->evidence,
        std::vector<std::string>{"the caches of the guest could not be shrunk: sh: write error"});
    EXPECT_FALSE(row.find(Check::no_leak)->passed);
}

TEST_F(RunnerTest, SoakGoesOnWithANewGuestWhenTheOldOneIsBeyondUse) {
    scenario_.cycles = 2;
    factory_.flaws.complaint = "BUG: unable to handle page fault for address: 0000000000000008";
    const RunReport report = run_rows({{&scenario_, nullptr, 1}, {&scenario_, nullptr, 2}});
    ASSERT_EQ(report.rows.size(), 2U);
    EXPECT_EQ(factory_.boots, 2);
    EXPECT_EQ(report.rows[0].unfit, "BUG: unable to handle page fault");
    EXPECT_TRUE(report.rows[1].fresh_boot);
}

TEST_F(RunnerTest, LaterBootIsTriedTwice) {
    factory_.flaws.stuck = true;
    factory_.bad_boots = {2};
    const Row row{&scenario_, nullptr, 0};
    EXPECT_EQ(run_rows({row, row}).rows.size(), 2U);

    factory_.boots = 0;
    factory_.bad_boots = {2, 3};
    const RunReport report = run_rows({row, row});
    EXPECT_EQ(report.rows.size(), 1U);
    EXPECT_EQ(report.info.error, "no hello from the agent");
}

/// Of a boot in ten under TCG: an interrupt while the kernel does not know whether its page tables
/// have five levels. KASAN and lockdep are silent from then on.
const std::vector<std::string_view> blind_boot = {
    "Calibrating delay loop (skipped), value calculated using timer frequency.. 5192.00 BogoMIPS",
    "==================================================================",
    "BUG: KASAN: wild-memory-access in do_raw_spin_lock+0x118/0x250",
    "Write of size 4 at addr ff110001000e20a8 by task swapper/0/0",
    "CPU: 0 UID: 0 PID: 0 Comm: swapper/0 Not tainted 7.3.4 #1 PREEMPTLAZY  ",
    "Call Trace:",
    " <IRQ>",
    " _raw_spin_lock+0x3c/0x50",
    " handle_edge_irq+0x34/0x880",
    " __common_interrupt+0x6d/0x170",
    " </IRQ>",
    "==================================================================",
    "Disabling lock debugging due to kernel taint",
    driver_load_line,
    "amdgpu: Virtual CRAT table created for CPU",
};

TEST_F(RunnerTest, GuestThatComplainedBeforeItsDriverIsGivenUp) {
    factory_.boot_logs = {{1, blind_boot}};
    const RowResult row = run_one();
    EXPECT_EQ(factory_.boots, 2);
    EXPECT_EQ(row.outcome, Outcome::pass);
    EXPECT_EQ(progress_.notes,
              std::vector<std::string>{"boot 1 is given up: the kernel complained before the "
                                       "driver was loaded: KASAN: wild-memory-access in "
                                       "do_raw_spin_lock"});
    EXPECT_TRUE(std::filesystem::exists(results_ / "boot-1" / "dmesg.txt"));
}

TEST_F(RunnerTest, KernelThatIsNeverFitIsAHarnessError) {
    factory_.boot_logs = {{1, blind_boot}, {2, blind_boot}, {3, blind_boot}};
    const RunReport report = run_rows({{&scenario_, nullptr, 0}});
    EXPECT_EQ(factory_.boots, 3);
    EXPECT_TRUE(report.rows.empty()) << "no verdict on the driver";
    EXPECT_EQ(progress_.notes.size(), 3U);
    EXPECT_EQ(report.info.error,
              "none of 3 boots was fit for a row: the kernel complained before the driver was "
              "loaded: KASAN: wild-memory-access in do_raw_spin_lock");
    const auto unfit = report.integrity.of(IntegrityKind::unfit_guest);
    ASSERT_EQ(unfit.size(), 1U);
    EXPECT_EQ(describe(unfit[0]),
              "guest 1: the kernel complained before the driver was loaded: KASAN: "
              "wild-memory-access in do_raw_spin_lock (3 times)");
    EXPECT_EQ(verdict_of(report), RunVerdict::error);
}

TEST_F(RunnerTest, GuestWithoutItsLockDebuggingIsGivenUp) {
    const Row row{&scenario_, nullptr, 0};
    factory_.flaws.lockdep_off = true;
    EXPECT_EQ(run_rows({row}).rows.size(), 1U) << "the kernel never had any";
    factory_.flaws.lockdep = true;
    EXPECT_EQ(run_rows({row}).info.error,
              "none of 3 boots was fit for a row: lock debugging is off");
    factory_.flaws.lockdep_mute = true;
    EXPECT_EQ(run_rows({row}).info.error,
              "none of 3 boots was fit for a row: /proc/lockdep_stats does not say whether lock "
              "debugging is on");
    factory_.flaws.lockdep_off = factory_.flaws.lockdep_mute = false;
    EXPECT_EQ(run_rows({row}).rows.size(), 1U);
}

TEST_F(RunnerTest, ComplaintAboutTheProbeIsOfTheFirstRow) {
    factory_.flaws.lockdep = factory_.flaws.lockdep_off = true;
    factory_.boot_logs = {
        {1, {driver_load_line, "DEBUG_LOCKS_WARN_ON(1)", "WARNING: a.c:1 at f+0x1/0x2"}}};
    const RowResult row = run_one();
    EXPECT_EQ(factory_.boots, 1) << "no other guest would fare better";
    EXPECT_EQ(failures(row), Checks{Check::log_clean});
    EXPECT_EQ(row.unfit, "WARNING in f");
}

TEST_F(RunnerTest, FreshBootIsAFreshBoot) {
    Scenario fresh = scenario_;
    fresh.fresh_boot = true;
    run_rows({{&scenario_, nullptr, 0}, {&fresh, nullptr, 0}, {&scenario_, nullptr, 0}});
    EXPECT_EQ(factory_.boots, 2);
}

TEST_F(RunnerTest, RowWhoseNeedsAreNotMetIsSkippedWithTheReason) {
    scenario_.requires_.kernel_options = {"CONFIG_KASAN"};
    EXPECT_EQ(run_one().skip_reason, "needs a kernel with CONFIG_KASAN");
    scenario_.requires_ = {};
    scenario_.requires_.gpus = 3;
    EXPECT_EQ(run_one().skip_reason, "needs 3 GPUs, the machine has 2");
    scenario_.requires_ = {};
    scenario_.requires_.profiles = {"gfx1030"};
    EXPECT_EQ(run_one().outcome, Outcome::skip);
    scenario_.requires_ = {};
    scenario_.requires_.behind_switch = true;
    EXPECT_EQ(run_one().skip_reason, "needs the GPUs behind a PCIe switch: --switch");
    scenario_.requires_ = {};
    scenario_.requires_.programs = {"lspci", "igt_runner"};
    EXPECT_EQ(run_one().skip_reason,
              "needs igt_runner in the guest: HP_IMAGE_PARTS says what is in its image");
}

TEST_F(RunnerTest, KnownFailureIsNoBundleAndUnexpectedPassIsOne) {
    expected_ = ExpectedFailures({{"s", Check::no_access, "C12", {"accesses before"}}});
    factory_.flaws.accesses = 7;
    const RowResult known = run_one();
    EXPECT_EQ(known.outcome, Outcome::known);
    EXPECT_TRUE(known.bundle.empty());
    factory_.flaws.accesses = 0;
    const RowResult fixed = run_one();
    EXPECT_EQ(fixed.outcome, Outcome::fixed);
    EXPECT_FALSE(fixed.bundle.empty());
}

TEST_F(RunnerTest, BundleHoldsWhatAReplayNeeds) {
    factory_.flaws.kfd_broken = true;
    const std::filesystem::path bundle = run_one().bundle;
    for (const char* file :
         {"console.log", "dmesg.txt", "scenario.json", "replay.json", "row.json", "README"}) {
        EXPECT_TRUE(std::filesystem::exists(bundle / file)) << file;
    }
}

class HangTest : public RunnerTest {
protected:
    /// What stands in for scripts/guest/blocked-tasks.
    void script(const std::string& text) {
        tree_.file("script", "#!/bin/sh\n" + text);
        std::filesystem::permissions(results_ / "script", std::filesystem::perms::owner_all);
    }
    RunReport report_with(DumpOf of, unsigned kept = 3) {
        RunnerConfig made = config();
        made.examiner = HangExaminer(
            {.dump = of, .kept = kept, .script = results_ / "script", .kernel = "bzImage"});
        Runner runner(factory_, progress_, std::move(made));
        const std::vector<Row> rows = {{&scenario_, nullptr, 0}};
        return runner.run(rows, {});
    }
    RowResult run_with(DumpOf of, unsigned kept = 3) { return report_with(of, kept).rows.at(0); }
    static std::string text_of(const std::filesystem::path& file) {
        std::ifstream in(file);
        return {std::istreambuf_iterator<char>(in), {}};
    }
};

TEST_F(HangTest, MemoryOfAGuestThatHangsIsReadAndKept) {
    script("printf 'head\\n* a waits for b\\nstack\\n' >$1/tasks.txt; echo \"$2 $3\" >$1/open");
    factory_.flaws.stuck = true;
    const RowResult row = run_with(DumpOf::hangs);
    ASSERT_TRUE(row.hang);
    EXPECT_EQ(row.hang->reason, "the removal has not returned: still there");
    EXPECT_EQ(row.hang->blocked, std::vector<std::string>{"a waits for b"});
    EXPECT_EQ(row.hang->note, "");
    const std::filesystem::path bundle = row.bundle;
    EXPECT_EQ(text_of(bundle / "vmcore"), "KDUMP");
    const std::string readme = text_of(bundle / "README");
    EXPECT_NE(readme.find("It hung: the removal has not returned"), std::string::npos) << readme;
    EXPECT_NE(readme.find("bzImage 7.3.4"), std::string::npos) << readme;
    EXPECT_FALSE(std::filesystem::exists(bundle / "open")) << "README has it";
    EXPECT_FALSE(std::filesystem::exists(results_ / "hang-1"));
    const auto lines = explain(row);
    EXPECT_EQ(lines.back(), "  a waits for b");
}

TEST_F(HangTest, LooksOnlyWhereItIsTold) {
    script("touch $1/tasks.txt");
    EXPECT_FALSE(run_with(DumpOf::hangs).hang) << "nothing failed";
    factory_.flaws.kfd_broken = true;
    EXPECT_FALSE(run_with(DumpOf::hangs).hang) << "nothing hangs";
    EXPECT_EQ(run_with(DumpOf::failures).hang->reason, "it does not hang");
    factory_.flaws.stuck = true;
    EXPECT_FALSE(run_with(DumpOf::none).hang);
}

TEST_F(HangTest, HangThatIsKnownLeavesNothing) {
    script("touch $1/tasks.txt");
    scenario_.checks = {Check::removed};
    scenario_.steps.pop_back();  // the recovery
    scenario_.steps.pop_back();  // kfd_usable
    factory_.flaws.stuck = true;
    expected_ = ExpectedFailures({{"s", Check::removed, "known", {"still there"}}});
    EXPECT_FALSE(run_with(DumpOf::hangs).hang);
    EXPECT_FALSE(std::filesystem::exists(results_ / "hang-1"));
}

TEST_F(HangTest, GuestIsAskedWhereItsMemoryCannotBeRead) {
    script("echo 'error: no drgn' >&2; exit 1");
    factory_.flaws.stuck = true;
    factory_.flaws.blocked = "= sh (104)\n[<0>] pci_stop+0x1/0x2\n[<0>] remove_store+0x3/0x4\n";
    RowResult row = run_with(DumpOf::hangs);
    ASSERT_TRUE(row.hang);
    EXPECT_NE(row.hang->note.find("error: no drgn"), std::string::npos) << row.hang->note;
    EXPECT_EQ(
        row.hang->blocked,
        std::vector<std::string>{"sh (104) is blocked in pci_stop+0x1/0x2 < remove_store+0x3/0x4"});
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(row.bundle) / "vmcore"))
        << "somebody else can read it";

    factory_.flaws.dump_fails = "no room";
    row = run_with(DumpOf::hangs);
    EXPECT_EQ(row.hang->note, "no room");
    EXPECT_EQ(row.hang->blocked.size(), 1U);
}

TEST_F(HangTest, SilentGuestIsAskedOnItsConsole) {
    factory_.flaws.lose_fails = factory_.flaws.silent = true;
    factory_.flaws.dump_fails = "QEMU ended";
    const RowResult row = run_with(DumpOf::hangs);
    ASSERT_TRUE(row.hang);
    EXPECT_EQ(row.hang->reason, "the guest does not answer");
    EXPECT_NE(text_of(std::filesystem::path(row.bundle) / "tasks.txt").find("task:sh state:D"),
              std::string::npos);
}

TEST_F(HangTest, DumpsBeyondTheirNumberAreReadAndNotKept) {
    script("echo '* a waits' >$1/tasks.txt; echo 'Open it' >$1/open; touch $1/vmlinux");
    factory_.flaws.stuck = true;
    const RowResult row = run_with(DumpOf::hangs, 0);
    EXPECT_EQ(row.hang->blocked.size(), 1U);
    EXPECT_NE(row.hang->note.find("--keep-dumps"), std::string::npos) << row.hang->note;
    const std::filesystem::path bundle = row.bundle;
    EXPECT_FALSE(std::filesystem::exists(bundle / "vmcore"));
    EXPECT_FALSE(std::filesystem::exists(bundle / "vmlinux"));
    EXPECT_TRUE(std::filesystem::exists(bundle / "tasks.txt"));
    EXPECT_EQ(text_of(bundle / "README").find("Open it"), std::string::npos);
}

TEST_F(HangTest, RunThatIsOutOfTimeMeanwhileLeavesNoMemory) {
    script("touch $1/tasks.txt");
    factory_.flaws.stuck = factory_.flaws.dump_takes_all = true;
    const RunReport report = report_with(DumpOf::hangs);
    Deadline::lift_limit();
    EXPECT_TRUE(report.info.out_of_time);
    EXPECT_EQ(report.not_run, std::vector<std::string>{"s"});
    EXPECT_FALSE(std::filesystem::exists(results_ / "hang-1"));
}

TEST_F(HangTest, GuestThatStoodStillRunsNoOtherRow) {
    script("touch $1/tasks.txt");
    factory_.flaws.bystander_dies = true;
    EXPECT_EQ(run_with(DumpOf::hangs).unfit, "");
    EXPECT_EQ(run_with(DumpOf::failures).unfit, "its memory was dumped");
}

TEST_F(HangTest, WhatTheKernelCallsHungIsAHangAndATaskThatStaysBlockedIsOne) {
    script("touch $1/tasks.txt");
    factory_.flaws.complaint = "INFO: task cs:104 blocked for more than 120 seconds.";
    EXPECT_EQ(run_with(DumpOf::hangs).hang->reason, "hung task: cs");
    factory_.flaws.complaint.clear();
    factory_.flaws.blocked = "= sh (104)\n[<0>] pci_stop+0x1/0x2\n";
    EXPECT_FALSE(run_with(DumpOf::hangs).hang) << "where nothing fails, nobody looks";
    factory_.flaws.kfd_broken = true;
    EXPECT_EQ(run_with(DumpOf::hangs).hang->reason, "sh (104) is blocked in pci_stop+0x1/0x2");
}

TEST_F(HangTest, StepThatDoesNotReturnInItsTimeIsAHang) {
    script("touch $1/tasks.txt");
    scenario_.steps = {WaitStep{"never", std::chrono::milliseconds(0)}};
    scenario_.checks = {};
    EXPECT_EQ(run_with(DumpOf::hangs).hang->reason,
              fmt::format("'{}' has not returned", describe(scenario_.steps[0])));
}

TEST_F(RunnerTest, GuestThatDoesNotBootIsAHarnessError) {
    factory_.flaws.boot_fails = true;
    const RunReport report = run_rows({{&scenario_, nullptr, 0}});
    EXPECT_TRUE(report.rows.empty());
    EXPECT_EQ(report.info.error, "no hello from the agent");
}

TEST_F(RunnerTest, EmulatorThatEndsBadlyIsTold) {
    factory_.flaws.emulator_crashes = true;
    const RunReport report = run_rows({{&scenario_, nullptr, 0}});
    EXPECT_EQ(report.rows.at(0).outcome, Outcome::pass);
    const auto faults = report.integrity.of(IntegrityKind::harness_fault);
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_EQ(describe(faults[0]), "guest 1: the emulator ended with signal 6");
    EXPECT_EQ(verdict_of(report), RunVerdict::error);
}

TEST_F(RunnerTest, InterruptionEndsTheRunWithoutAVerdictOnTheRow) {
    Deadline::interrupt_all();
    const RunReport report = run_rows({{&scenario_, nullptr, 0}});
    Deadline::clear_interruption();
    EXPECT_TRUE(report.info.interrupted);
    EXPECT_TRUE(report.rows.empty());
}

/// Takes the time that the run may have when a row has ended, or while one is under way.
class Spends final : public Progress {
public:
    explicit Spends(std::string at) : at_(std::move(at)) {}

    void run_started(size_t) override {}
    void booting() override {}
    void row_started(const std::string& id) override { spend("start " + id); }
    void step_started(const std::string&, const std::string&) override {}
    void row_finished(const RowResult& row) override { spend("end " + row.id); }
    void note(const std::string&) override {}

private:
    void spend(const std::string& moment) {
        if (moment == at_) {
            Deadline::limit_all(Clock::duration::zero());
        }
    }

    std::string at_;
};

TEST_F(RunnerTest, RunThatIsOutOfTimeNamesWhatItDidNotRun) {
    const auto run = [&](const std::string& moment) {
        std::vector<Row> rows(3, Row{&scenario_, nullptr, 0});
        rows[0].attempt = 1;
        rows[1].attempt = 2;
        rows[2].attempt = 3;
        Spends spends(moment);
        Runner runner(factory_, spends, {results_, [&](const GuestFacts&) {
                                             return hp::Result<ExpectedFailures>(expected_);
                                         }});
        RunReport report = runner.run(rows, {});
        Deadline::lift_limit();
        EXPECT_FALSE(report.info.interrupted);
        EXPECT_EQ(report.info.error, "");
        return report;
    };
    RunReport report = run("end s~1");
    EXPECT_TRUE(report.info.out_of_time);
    EXPECT_EQ(report.rows.size(), 1U);
    EXPECT_EQ(report.not_run, (std::vector<std::string>{"s~2", "s~3"}));
    ASSERT_EQ(report.integrity.of(IntegrityKind::not_run).size(), 1U);
    EXPECT_EQ(report.integrity.of(IntegrityKind::not_run)[0].text, "s~2 s~3");
    ASSERT_EQ(report.integrity.of(IntegrityKind::out_of_time).size(), 1U);
    EXPECT_EQ(report.integrity.of(IntegrityKind::out_of_time)[0].text,
              "2 of 3 rows have no verdict");
    EXPECT_EQ(verdict_of(report), RunVerdict::fail);
    EXPECT_TRUE(only_out_of_time(report));
    EXPECT_EQ(closing_line(report),
              "1 passed, 0 failed, 0 skipped, 2 not run; 2 flaws of the run itself");

    report = run("start s~2");
    EXPECT_EQ(report.rows.size(), 1U) << "a row that is broken off has no verdict";
    EXPECT_EQ(report.not_run, (std::vector<std::string>{"s~2", "s~3"}));

    report = run("end s~3");
    EXPECT_FALSE(report.info.out_of_time) << "nothing was left";
    EXPECT_EQ(verdict_of(report), RunVerdict::pass);

    factory_.flaws.kfd_broken = true;
    report = run("end s~1");
    EXPECT_TRUE(report.info.out_of_time);
    EXPECT_FALSE(only_out_of_time(report)) << "a row has failed";
}

TEST_F(RunnerTest, RowInQuarantineLeavesABundleButFailsNothing) {
    const ScenarioCatalogue catalogue({scenario_});
    const auto today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
    const auto run = [&](std::chrono::sys_days until) {
        const std::vector<Row> rows(1, Row{&scenario_, nullptr, 0});
        Runner runner(
            factory_, progress_,
            {.results_dir = results_,
             .expected = [&](const GuestFacts&) { return hp::Result<ExpectedFailures>(expected_); },
             .quarantine = Quarantine({{"s", "hangs", until}}, catalogue, today)});
        return runner.run(rows, {});
    };
    factory_.flaws.kfd_broken = true;
    RunReport report = run(today);
    ASSERT_EQ(report.rows.size(), 1U);
    EXPECT_EQ(report.rows[0].outcome, Outcome::quarantined);
    EXPECT_NE(report.rows[0].bundle, "");
    EXPECT_EQ(verdict_of(report), RunVerdict::pass);
    EXPECT_TRUE(progress_.notes.empty());

    report = run(today - std::chrono::days(1));
    EXPECT_EQ(report.rows[0].outcome, Outcome::fail) << "its time is over";
    EXPECT_EQ(verdict_of(report), RunVerdict::fail);
    ASSERT_EQ(progress_.notes.size(), 1U);
    EXPECT_EQ(progress_.notes[0].find("quarantine: s: its quarantine ended on "), 0U);
    EXPECT_EQ(report.integrity.of(IntegrityKind::quarantine_stale).size(), 1U);
}

TEST_F(RunnerTest, RunThatCannotGoOnNamesWhatItDidNotRun) {
    factory_.flaws.boot_fails = true;
    const RunReport report = run_rows({{&scenario_, nullptr, 0}});
    EXPECT_EQ(report.not_run, std::vector<std::string>{"s"});
    EXPECT_EQ(report.integrity.count(Severity::error), 1U);
    EXPECT_EQ(report.integrity.of(IntegrityKind::not_run).size(), 1U);
}

TEST_F(RunnerTest, ClientsGetTheArgumentsOfTheirGpu) {
    FakeTestbed bed(factory_.flaws);
    scenario_.steps = {StartStep{"hsa_queue", Role::bystander, {"--count", "$VICTIM"}},
                       StartStep{"holder", Role::victim, {}}, TellStep{"holder@victim", "read"},
                       StopStep{"holder@victim"}};
    scenario_.checks = {Check::bystander};
    const Row row{&scenario_, nullptr, 0};
    GuestHistory history;
    RowRun run(bed, row, progress_, history);
    const RowResult result = run.run();
    EXPECT_EQ(failures(result), Checks{});
    EXPECT_EQ(bed.ran[0], (std::vector<std::string>{"hsa_queue", "--gpu-id", "101", "--count",
                                                    "0000:01:00.0"}));
    EXPECT_EQ(bed.ran[1], (std::vector<std::string>{"holder", "/dev/dri/renderD128"}));
    EXPECT_EQ(result.unfit, "");
}

TEST_F(RunnerTest, BystanderThatStartedAfterALossDidNotStandStillBefore) {
    factory_.flaws.lost_ago = std::chrono::minutes(5);
    scenario_.steps = {LoseStep{Loss::slot_power}, RecoverStep{},
                       StartStep{"drm_submitter", Role::bystander, {}}};
    scenario_.checks = {Check::bystander};
    EXPECT_EQ(failures(run_one()), Checks{});
}

TEST_F(RunnerTest, CheckThatFailedIsNotJudgedAgain) {
    const auto opened = [&] {
        FakeTestbed bed(factory_.flaws);
        const Row row{&scenario_, nullptr, 0};
        GuestHistory history;
        RowRun(bed, row, progress_, history).run();
        return std::count_if(bed.ran.begin(), bed.ran.end(), [](const auto& argv) {
            return argv.back().find("/dev/kfd") != std::string::npos;
        });
    };
    EXPECT_EQ(opened(), 2);
    factory_.flaws.kfd_broken = true;
    EXPECT_EQ(opened(), 1);
}

TEST_F(RunnerTest, GuestWhoseKfdIsLockedIsOfNoUseToTheNextRow) {
    factory_.flaws.kfd_broken = true;
    EXPECT_EQ(run_one().unfit, "/dev/kfd cannot be opened");
}

TEST_F(RunnerTest, RemovalIsWatchedForLongerThanItsLimit) {
    FakeTestbed bed(factory_.flaws);
    const Row row{&scenario_, nullptr, 0};
    GuestHistory history;
    scenario_.limits.watch = std::chrono::minutes(5);
    RowRun(bed, row, progress_, history).run();
    EXPECT_EQ(bed.overdue, scenario_.limits.removal);
    EXPECT_GT(bed.watched, std::chrono::minutes(4));
    Row in_haste = row;
    in_haste.watch = std::chrono::seconds(15);
    RowRun(bed, in_haste, progress_, history).run();
    EXPECT_LE(bed.watched, std::chrono::seconds(15));
    in_haste.watch = std::chrono::seconds(1);
    RowRun(bed, in_haste, progress_, history).run();
    EXPECT_GT(bed.watched, std::chrono::seconds(9)) << "its limit is 10 s";
}

TEST_F(RunnerTest, RemovalThatIsOverdueIsToldAtOnce) {
    factory_.flaws.stuck = true;
    run_one();
    ASSERT_EQ(progress_.notes.size(), 1u);
    EXPECT_EQ(progress_.notes[0],
              "s fails: the removal has not returned after 10 s. It is watched for 300 s");
    scenario_.checks = {Check::kfd_usable};
    run_one();
    EXPECT_EQ(progress_.notes.size(), 1u) << "nobody judges it";
}

TEST_F(RunnerTest, LimitsAreDoubledOnTheDebugKernel) {
    FakeTestbed bed(factory_.flaws, {"CONFIG_KASAN"});
    const Row row{&scenario_, nullptr, 0};
    GuestHistory history;
    RowRun(bed, row, progress_, history).run();
    EXPECT_EQ(bed.overdue, scenario_.limits.removal * 2);
}

TEST_F(RunnerTest, ReplacementIsHandedOn) {
    FakeTestbed bed(factory_.flaws);
    scenario_.steps = {LoseStep{Loss::slot_power},
                       RecoverStep{{.device_id = 0x74a5, .vram_mib = std::nullopt}}};
    scenario_.checks = {Check::replug};
    const Row row{&scenario_, nullptr, 0};
    GuestHistory history;
    RowRun(bed, row, progress_, history).run();
    ASSERT_EQ(bed.replacements.size(), 1U);
    EXPECT_EQ(bed.replacements[0].device_id, 0x74a5);
}

TEST_F(RunnerTest, FaultGoesToTheEmulatorOfItsGpuAndCostsTheGuest) {
    FakeTestbed bed(factory_.flaws);
    const nlohmann::json vanish{{"do", "vanish"}};
    scenario_.steps = {StartStep{"holder", Role::victim, {}}, EmulateStep{vanish, Role::bystander},
                       AwaitStep{"holder@victim"}};
    scenario_.checks = {};
    const Row row{&scenario_, nullptr, 0};
    GuestHistory history;
    const RowResult result = RowRun(bed, row, progress_, history).run();
    EXPECT_EQ(failures(result), Checks{});
    ASSERT_EQ(bed.requests.size(), 1U);
    EXPECT_EQ(bed.requests[0], (std::pair<size_t, nlohmann::json>(1, vanish)));
    EXPECT_EQ(result.unfit, "an emulator was told to misbehave");
}

TEST_F(RunnerTest, HostileDeviceCostsTheGuestUnlessAnotherIsPutInItsPlace) {
    FakeTestbed bed(factory_.flaws);
    const EmulateStep lie{{{"do", "hostile"}, {"surface", {"registers"}}, {"rate", 9}, {"seed", 1}},
                          Role::victim};
    scenario_.checks = {};
    const Row row{&scenario_, nullptr, 0};
    GuestHistory history;
    const auto run = [&] { return RowRun(bed, row, progress_, history).run(); };

    scenario_.steps = {lie, LoseStep{Loss::surprise}, RecoverStep{}};
    const RowResult replaced = run();
    EXPECT_EQ(replaced.unfit, "");
    EXPECT_EQ(replaced.mutations, 10U);
    EXPECT_EQ(replaced.lies.at("registers"), (SurfaceLies{.asked = 30, .told = {5, 7}}));
    scenario_.steps = {lie, LoseStep{Loss::driver_unbind}, RecoverStep{}};
    EXPECT_EQ(run().unfit, "an emulator was told to misbehave") << "it is the same board";
    scenario_.steps = {EmulateStep{lie.request, Role::bystander}, LoseStep{Loss::surprise},
                       RecoverStep{}};
    const RowResult other = run();
    EXPECT_EQ(other.unfit, "an emulator was told to misbehave");
    EXPECT_EQ(other.mutations, 11U);
    scenario_.steps = {LoseStep{Loss::surprise}, RecoverStep{}};
    EXPECT_FALSE(run().mutations);
}

TEST_F(RunnerTest, ErrorsOfADriverThatWasLiedToAreNotJudged) {
    const EmulateStep lie{{{"do", "hostile"}, {"surface", {"registers"}}, {"rate", 9}, {"seed", 1}},
                          Role::victim};
    scenario_.steps = {lie, LoseStep{Loss::surprise}, RecoverStep{}};
    scenario_.checks = {};
    factory_.flaws.error_line = "amdgpu 0000:03:00.0: SMU: unknown response";
    factory_.flaws.stray_dma = 2;
    const RowResult lied_to = run_one();
    for (const Check check : {Check::error_lines, Check::stray_dma}) {
        EXPECT_TRUE(lied_to.find(check)->passed);
        EXPECT_EQ(lied_to.find(check)->value, "not judged: the device lied");
    }
    factory_.flaws.lies = 0;
    EXPECT_EQ(failures(run_one()), (Checks{Check::error_lines, Check::stray_dma}))
        << "it was told to lie, and never did";
}

TEST_F(RunnerTest, CyclesThatAreTriesGetANewGuestAfterAComplaint) {
    scenario_.cycles = 2;
    scenario_.alone = true;
    factory_.flaws.complaint = "WARNING: a.c:1 at f+0x1/0x2";
    const RunReport report = run_rows({{&scenario_, nullptr, 1}, {&scenario_, nullptr, 2}});
    ASSERT_EQ(report.rows.size(), 2U);
    EXPECT_EQ(factory_.boots, 2);
    EXPECT_EQ(report.rows[0].unfit, "taint 0x200, 0x0 before");

    factory_.flaws.complaint.clear();
    factory_.flaws.kmemleak = {"unreferenced object"};
    const RunReport leaky = run_rows({{&scenario_, nullptr, 1}});
    EXPECT_FALSE(leaky.rows.at(0).find(Check::no_leak)->passed) << "each is asked for leaks";
}

TEST_F(RunnerTest, AwaitedClientHasToEndAndToEndWell) {
    scenario_.checks = {};
    const StartStep start{"holder", Role::victim, {}};
    const AwaitStep await{"holder@victim"};
    scenario_.steps = {start, await};
    EXPECT_EQ(run_one().find(Check::steps)->evidence[0],
              "step 'await the end of holder@victim': it goes on; its last line: "
              "{\"state\":\"ready\"}");
    factory_.flaws.job_fails = true;
    scenario_.steps = {start, EmulateStep{{{"do", "vanish"}}, Role::victim}, await};
    EXPECT_EQ(run_one().find(Check::steps)->evidence[0].substr(0, 52),
              "step 'await the end of holder@victim': status 1; its");
}

TEST_F(RunnerTest, ClientStartedAfterTheEndOfAnotherIsTheOneThatIsAwaited) {
    scenario_.checks = {};
    const StartStep start{"vk_copy", Role::victim, {}};
    const AwaitStep await{"vk_copy@victim"};
    factory_.flaws.clients_status = 0;
    scenario_.steps = {start, LoseStep{Loss::surprise}, await, RecoverStep{}, start, await};
    EXPECT_EQ(run_one().find(Check::steps)->evidence[0],
              "step 'await the end of vk_copy@victim': it goes on; its last line: "
              R"({"state":"progress","done":1})");
}

TEST_F(RunnerTest, ClientThatIsAskedHasToAnswerAndToAnswerWell) {
    scenario_.checks = {};
    const auto told = [&](const char* answer) {
        // The fake client says what it is told.
        TellStep tell{"kfd_crowd@victim", answer};
        tell.answer = "crowd";
        scenario_.steps = {StartStep{"kfd_crowd", Role::victim, {}}, tell};
        return run_one().find(Check::steps)->evidence;
    };
    EXPECT_EQ(told(R"({"state":"crowd","bad":0})"), std::vector<std::string>{});
    EXPECT_EQ(
        told(R"({"state":"crowd","bad":2})"),
        std::vector<std::string>{"step 'tell kfd_crowd@victim '{\"state\":\"crowd\",\"bad\":2}'': "
                                 "{\"state\":\"crowd\",\"bad\":2}"});
    EXPECT_EQ(told("check"),
              std::vector<std::string>{"step 'tell kfd_crowd@victim 'check'': waited for "
                                       "kfd_crowd@victim to answer 'check' with 'crowd'; its last "
                                       "line: check"});
}

TEST_F(RunnerTest, RefusedFaultFailsTheStep) {
    scenario_.checks = {};
    scenario_.steps = {EmulateStep{{{"do", "explode"}}, Role::victim}};
    EXPECT_EQ(run_one().find(Check::steps)->evidence[0],
              "step 'emulate {\"do\":\"explode\"} on victim': unknown request");
}

TEST_F(RunnerTest, AnswerOfAnEmulatorIsJudgedAndTheGuestStaysInUse) {
    FakeTestbed bed(factory_.flaws);
    scenario_.checks = {};
    const Row row{&scenario_, nullptr, 0};
    GuestHistory history;
    const AskStep first{{{"do", "status"}}, Role::bystander};
    const auto asked = [&](const AskStep& judged) {
        bed.requests.clear();
        scenario_.steps = {first, AskStep{{{"do", "status"}}, Role::victim}, judged};
        return RowRun(bed, row, progress_, history).run();
    };
    const auto more = [&](const char* pointer, uint64_t growth) {
        AskStep judged = first;
        judged.more = {{pointer, growth}};
        return asked(judged);
    };
    const auto is = [&](const char* pointer, const nlohmann::json& value) {
        AskStep judged = first;
        judged.is = {{pointer, value}};
        return asked(judged);
    };
    const RowResult enough = more("/hive/reads", 6);
    EXPECT_EQ(failures(enough), Checks{}) << "3 when it was asked first, 9 when it was last";
    EXPECT_EQ(enough.unfit, "");
    EXPECT_EQ(bed.requests.at(0).first, 1U);
    EXPECT_EQ(more("/hive/reads", 7).find(Check::steps)->evidence.at(0),
              "step 'ask {\"do\":\"status\"} of bystander': /hive/reads has not grown by 7: "
              "{\"hive\":{\"peers\":[1],\"reads\":9},\"state\":\"present\"}, before "
              "{\"hive\":{\"peers\":[1],\"reads\":3},\"state\":\"present\"}");
    EXPECT_FALSE(more("/hive/writes", 1).find(Check::steps)->passed) << "it is not there";
    EXPECT_FALSE(more("/hive/peers", 1).find(Check::steps)->passed) << "it is no number";

    EXPECT_EQ(failures(is("/state", "present")), Checks{});
    EXPECT_EQ(failures(is("/hive/reads", 9)), Checks{});
    EXPECT_EQ(is("/state", "ones").find(Check::steps)->evidence.at(0),
              "step 'ask {\"do\":\"status\"} of bystander': /state is not \"ones\": "
              "{\"hive\":{\"peers\":[1],\"reads\":9},\"state\":\"present\"}");
    EXPECT_FALSE(is("/mood", "good").find(Check::steps)->passed) << "it is not there";
}

TEST_F(RunnerTest, AccessOfTheRowAndWhatIsUnderWayAreHandedOn) {
    FakeTestbed bed(factory_.flaws);
    scenario_.steps = {LoseStep{Loss::at_access, {}, "cat $VICTIM $VICTIM_ID"}, RecoverStep{}};
    Row row{&scenario_, nullptr, 0};
    row.access = 345;
    EXPECT_EQ(row.id(), "s@345");
    EXPECT_EQ(row.expected_key(), "s");
    GuestHistory history;
    RowRun(bed, row, progress_, history).run();
    EXPECT_EQ(bed.lost_with.during, "cat 0000:01:00.0 100");
    EXPECT_EQ(bed.lost_with.access, 345U);
}

TEST_F(RunnerTest, WhatRunsDuringARemovalHasToEndInTimeAndWell) {
    LoseStep lose{Loss::slot_power};
    lose.meanwhile = "echo $BYSTANDER";
    lose.meanwhile_deadline = std::chrono::seconds(5);
    scenario_.steps = {lose, RecoverStep{}};
    scenario_.checks = {Check::replug};
    EXPECT_EQ(failures(run_one()), Checks{});
    const std::string what = "during 'lose slot_power', 'echo $BYSTANDER': ";

    factory_.flaws.meanwhile = JobExit{0, 6'200'000};
    RowResult row = run_one();
    EXPECT_EQ(failures(row), Checks{Check::steps}) << "the row goes on";
    EXPECT_EQ(row.find(Check::steps)->evidence[0], what + "took 5.1 s, allowed are 5.0 s");
    EXPECT_EQ(row.unfit, row.find(Check::steps)->evidence[0]);

    factory_.flaws.meanwhile = JobExit{1, 2'000'000};
    row = run_one();
    EXPECT_EQ(row.find(Check::steps)->evidence[0], what + "status 1: Device or resource busy");

    factory_.flaws.meanwhile.reset();
    row = run_one();
    EXPECT_EQ(failures(row), Checks{Check::steps});
    EXPECT_EQ(row.find(Check::steps)->evidence[0], what + "has not ended after 5.0 s");
}

TEST_F(RunnerTest, WhatRunsDuringARemovalIsHandedOn) {
    FakeTestbed bed(factory_.flaws);
    LoseStep lose{Loss::slot_power};
    lose.meanwhile = "echo $BYSTANDER";
    scenario_.steps = {lose, RecoverStep{}};
    const Row row{&scenario_, nullptr, 0};
    GuestHistory history;
    RowRun(bed, row, progress_, history).run();
    EXPECT_EQ(bed.lost_with.meanwhile, "echo 0000:02:00.0");
}

/// Gives one row again and again, until it has failed or `most` times.
class UntilRed final : public RowSource {
public:
    UntilRed(Row row, size_t most) : row_(row), most_(most) {}

    size_t size() const override { return most_; }
    std::optional<Row> next() override {
        return red || given == most_ ? std::nullopt : (++given, std::optional(row_));
    }
    hp::Result<void> finished(const RowResult& result) override {
        red = result.outcome == Outcome::fail;
        return full ? hp::fail("disk full") : hp::Result<void>();
    }

    size_t given = 0;
    bool red = false;
    bool full = false;

private:
    Row row_;
    size_t most_;
};

TEST_F(RunnerTest, NextRowDependsOnWhatCameOfTheLast) {
    const auto run = [&](UntilRed& rows) {
        RunnerConfig no_bundles = config();
        no_bundles.bundles = [](const RowResult&) { return false; };
        return Runner(factory_, progress_, no_bundles).run(rows, {});
    };
    UntilRed good({&scenario_, nullptr, 0}, 3);
    EXPECT_EQ(run(good).rows.size(), 3U);
    EXPECT_EQ(factory_.boots, 1) << "one guest for all of them";

    UntilRed full({&scenario_, nullptr, 0}, 3);
    full.full = true;
    EXPECT_EQ(run(full).info.error, "disk full");
    EXPECT_EQ(full.given, 1U);

    factory_.flaws.kfd_broken = true;
    UntilRed bad({&scenario_, nullptr, 0}, 3);
    const RunReport report = run(bad);
    ASSERT_EQ(report.rows.size(), 1U);
    EXPECT_EQ(report.rows[0].bundle, "") << "nobody wanted one";
}

/// Rows after each of which the kernel complains.
class LateComplaints final : public RowSource {
public:
    LateComplaints(std::vector<Row> rows, FakeFactory& factory)
        : rows_(std::move(rows)), factory_(factory) {}

    size_t size() const override { return rows_.size(); }
    std::optional<Row> next() override {
        return given_ == rows_.size() ? std::nullopt : std::optional(rows_[given_++]);
    }
    hp::Result<void> finished(const RowResult&) override {
        factory_.bed->log("WARNING: a.c:1 at late+0x1/0x2");
        return {};
    }

private:
    std::vector<Row> rows_;
    FakeFactory& factory_;
    size_t given_ = 0;
};

TEST_F(RunnerTest, LateComplaintOfARowInQuarantineIsANote) {
    const ScenarioCatalogue catalogue({scenario_});
    LateComplaints source({Row{&scenario_, nullptr, 0}}, factory_);
    Runner runner(
        factory_, progress_,
        {.results_dir = results_,
         .expected = [&](const GuestFacts&) { return hp::Result<ExpectedFailures>(expected_); },
         .quarantine = Quarantine({{"s", "hangs", std::chrono::year(2027) / 1 / 1}}, catalogue,
                                  std::chrono::sys_days(std::chrono::year(2026) / 11 / 25))});
    const RunReport report = runner.run(source, {});
    const auto late = report.integrity.of(IntegrityKind::late_complaint);
    ASSERT_EQ(late.size(), 1U);
    EXPECT_EQ(late[0].severity, Severity::note);
    EXPECT_NE(late[0].text.find("(in quarantine until 2027-01-01: hangs)"), std::string::npos);
}

TEST_F(RunnerTest, ComplaintBetweenTwoRowsCostsTheGuestAndIsOfTheNextCycleOfASoak) {
    const auto run = [&](std::vector<Row> rows) {
        LateComplaints source(std::move(rows), factory_);
        return Runner(factory_, progress_, config()).run(source, {});
    };
    const Row row{&scenario_, nullptr, 0};
    const RunReport report = run({row, row});
    ASSERT_EQ(report.rows.size(), 2U);
    EXPECT_EQ(factory_.boots, 2);
    EXPECT_EQ(report.rows[1].outcome, Outcome::pass) << "it is not its own";
    const auto late = report.integrity.of(IntegrityKind::late_complaint);
    ASSERT_EQ(late.size(), 1U);
    EXPECT_EQ(describe(late[0]), "guest 1, after s: WARNING in late (2 times)")
        << "after the last row, too";
    EXPECT_EQ(verdict_of(report), RunVerdict::fail);
    EXPECT_EQ(progress_.notes,
              (std::vector<std::string>{
                  "the guest complained between two rows, and is given up: WARNING in late",
                  "the guest complained after its last row: WARNING in late"}));

    expected_ = ExpectedFailures(
        {{"s", Check::log_clean, "C14", {"WARNING in late"}, FailureRate{1, 2, "when"}}});
    const RunReport known = run({row});
    ASSERT_EQ(known.integrity.of(IntegrityKind::late_complaint).size(), 1U);
    EXPECT_EQ(describe(known.integrity.of(IntegrityKind::late_complaint)[0]),
              "guest 1, after s: WARNING in late (known: C14)");
    EXPECT_EQ(verdict_of(known), RunVerdict::pass) << "the row is known to make it say that";
    expected_ = {};

    factory_.boots = 0;
    scenario_.cycles = 2;
    const RunReport soak = run({{&scenario_, nullptr, 1}, {&scenario_, nullptr, 2}});
    ASSERT_EQ(soak.rows.size(), 2U);
    EXPECT_EQ(factory_.boots, 1);
    EXPECT_EQ(failures(soak.rows[0]), Checks{});
    EXPECT_EQ(failures(soak.rows[1]), Checks{Check::log_clean});
}

/// The kernel complains a while after the last row.
class ComplaintAtTheEnd final : public RowSource {
public:
    ComplaintAtTheEnd(Row row, FakeFactory& factory) : row_(row), factory_(factory) {}

    size_t size() const override { return 1; }
    std::optional<Row> next() override { return std::exchange(row_, std::nullopt); }
    hp::Result<void> finished(const RowResult&) override {
        factory_.bed->log_later("WARNING: a.c:1 at late+0x1/0x2", std::chrono::milliseconds(100));
        return {};
    }

private:
    std::optional<Row> row_;
    FakeFactory& factory_;
};

TEST_F(RunnerTest, GuestIsWatchedForAWhileAfterItsLastRow) {
    RunnerConfig watching = config();
    watching.late_watch = std::chrono::seconds(30);  // the complaint ends it
    ComplaintAtTheEnd source({&scenario_, nullptr, 0}, factory_);
    const RunReport report = Runner(factory_, progress_, watching).run(source, {});
    ASSERT_EQ(report.rows.size(), 1U);
    EXPECT_EQ(report.rows[0].outcome, Outcome::pass);
    const auto late = report.integrity.of(IntegrityKind::late_complaint);
    ASSERT_EQ(late.size(), 1U);
    EXPECT_EQ(describe(late[0]), "guest 1, after s: WARNING in late");
}

TEST_F(RunnerTest, BootThatWasTriedAgainFailsTheRunUnlessThereWasNoGuest) {
    scenario_.fresh_boot = true;
    const Row row{&scenario_, nullptr, 0};
    factory_.bad_boots = {2};
    const RunReport report = run_rows({row, row});
    EXPECT_EQ(factory_.boots, 3);
    ASSERT_EQ(report.rows.size(), 2U);
    const auto failed = report.integrity.of(IntegrityKind::boot_failed);
    ASSERT_EQ(failed.size(), 1U);
    EXPECT_EQ(describe(failed[0]), "guest 2: no hello from the agent");
    EXPECT_EQ(verdict_of(report), RunVerdict::fail);

    factory_.boots = 0;
    factory_.host_fails = true;
    const RunReport host = run_rows({row, row});
    EXPECT_EQ(host.integrity.of(IntegrityKind::host_trouble).size(), 1U);
    EXPECT_EQ(verdict_of(host), RunVerdict::pass);
}

TEST_F(RunnerTest, SkippedRowsAreSaidAndFailWhereThatIsWanted) {
    Scenario other = scenario_;
    other.id = "o";
    other.requires_.kernel_options = {"CONFIG_SUSPEND"};
    const std::vector<Row> rows = {{&scenario_, nullptr, 0}, {&other, nullptr, 0}};
    const auto run = [&](bool fail_on_skip, const std::vector<Row>& which) {
        RunnerConfig made = config();
        made.fail_on_skip = fail_on_skip;
        return Runner(factory_, progress_, made).run(which, {});
    };
    const RunReport report = run(false, rows);
    const auto skipped = report.integrity.of(IntegrityKind::row_skipped);
    ASSERT_EQ(skipped.size(), 1U);
    EXPECT_EQ(skipped[0].text, "needs a kernel with CONFIG_SUSPEND: o");
    EXPECT_EQ(verdict_of(report), RunVerdict::pass);
    EXPECT_EQ(verdict_of(run(true, rows)), RunVerdict::fail);
    EXPECT_EQ(verdict_of(run(true, {rows[0]})), RunVerdict::pass);

    const RunReport nothing = run(false, {rows[1]});
    EXPECT_EQ(nothing.integrity.of(IntegrityKind::nothing_judged).size(), 1U);
    EXPECT_EQ(verdict_of(nothing), RunVerdict::fail);
}

TEST_F(RunnerTest, OutputThatWasCutFailsTheRun) {
    ShellStep shell;
    shell.command = "suite";
    scenario_.steps = {shell};
    scenario_.checks = {};
    factory_.flaws.output_cut = true;
    const RunReport report = run_rows({{&scenario_, nullptr, 0}});
    ASSERT_EQ(report.rows.size(), 1U);
    EXPECT_EQ(report.rows[0].outcome, Outcome::pass);
    const auto cut = report.integrity.of(IntegrityKind::output_cut);
    ASSERT_EQ(cut.size(), 1U);
    EXPECT_EQ(cut[0].text, "s, step '" + describe(Step(shell)) + "'");
    EXPECT_EQ(verdict_of(report), RunVerdict::fail);
}

TEST_F(RunnerTest, WhatTheKernelLacksIsSaidOfTheRun) {
    const RunReport report = run_rows({{&scenario_, nullptr, 0}});
    EXPECT_EQ(report.integrity.of(IntegrityKind::not_judged).size(), 6U);
    EXPECT_EQ(report.info.options_from, "/proc/config.gz");
}

TEST_F(RunnerTest, RunThatEndsEarlySaysSo) {
    factory_.flaws.boot_fails = true;
    const RunReport report = run_rows({{&scenario_, nullptr, 0}});
    ASSERT_EQ(report.integrity.of(IntegrityKind::ended_early).size(), 1U);
    EXPECT_EQ(first_error(report.integrity), "no hello from the agent");
    EXPECT_EQ(verdict_of(report), RunVerdict::error);
}

TEST_F(RunnerTest, RunThatIsKilledLeavesReportsThatSaySo) {
    ReportFiles files(results_);
    const auto run = [&](std::function<void(const RunReport&)> after_each) {
        RunnerConfig keeping = config();
        keeping.keep = [&](const RunReport& report, size_t planned) {
            auto written = ReportFiles(results_).write_unfinished(report, planned);
            after_each(report);
            return written;
        };
        Runner runner(factory_, progress_, keeping);
        const Row row{&scenario_, nullptr, 0};
        ASSERT_TRUE(files.write(runner.run(std::vector{row, row, row}, {})));
    };
    const auto read = [&](const char* name) {
        std::ifstream in(results_ / name);
        return std::string{std::istreambuf_iterator<char>(in), {}};
    };
    run([](const RunReport&) {});
    auto json = nlohmann::json::parse(read("results.json"));
    EXPECT_EQ(json.at("verdict"), "pass");
    EXPECT_EQ(json.at("rows").size(), 3U);
    EXPECT_NE(read("results.ktap").find("\nok 4 integrity\n"), std::string::npos);

    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        run([](const RunReport& report) {
            if (report.rows.size() == 2) {
                ::kill(::getpid(), SIGKILL);
            }
        });
        ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    json = nlohmann::json::parse(read("results.json"));
    EXPECT_EQ(json.at("verdict"), "fail");
    EXPECT_EQ(json.at("rows").size(), 2U);
    const auto& entry = json.at("integrity").back();
    EXPECT_EQ(entry.at("kind"), "unfinished");
    EXPECT_EQ(entry.at("text"), "2 of 3 rows are here: the run goes on, or it was killed");
    EXPECT_NE(read("results.ktap").find("\nnot ok 3 integrity\n"), std::string::npos);
    EXPECT_NE(read("junit.xml").find("2 of 3 rows are here"), std::string::npos);
    EXPECT_NE(read("index.html").find("This run failed."), std::string::npos);

    ASSERT_TRUE(files.remove());
    EXPECT_FALSE(std::filesystem::exists(results_ / "results.json"));
}

TEST_F(RunnerTest, TrialsOfThePoolRunWithoutAGuest) {
    Scenario pool;
    pool.id = "pool";
    pool.pool = std::chrono::seconds(9);
    const Variant swap{"swap", {}};
    const Row trial{&pool, &swap, 0}, other{&scenario_, nullptr, 0};
    const std::vector rows{other, trial, other};
    RunnerConfig with_pool = config();
    with_pool.pool_trial = [](const Row& row) {
        RowResult result;
        result.id = row.id();
        result.checks = {{.check = Check::steps, .passed = false}};
        return result;
    };
    const RunReport report = Runner(factory_, progress_, with_pool).run(rows, {});
    ASSERT_EQ(report.rows.size(), 3U);
    EXPECT_EQ(report.rows[1].id, "pool/swap");
    EXPECT_EQ(report.rows[1].outcome, Outcome::fail);
    EXPECT_TRUE(report.rows[1].bundle.empty()) << "the guest of another row tells nothing of it";
    EXPECT_EQ(report.info.boots, 2U) << "a guest is not kept beside those of the trial";
    EXPECT_EQ(run_rows({trial}).rows.at(0).outcome, Outcome::skip) << "nobody says how";
}

TEST(ClientLines, BrokenLinesHaveNoState) {
    EXPECT_EQ(parse_client_line("Segmentation fault").state, "");
    EXPECT_EQ(parse_client_line(R"({"state": 7})").state, "");
    const ClientLine line = parse_client_line(R"({"state":"end","done":9,"bad":2})");
    EXPECT_EQ(line.state, "end");
    EXPECT_EQ(line.done, 9U);
    EXPECT_EQ(line.bad, 2U);
}

/// Two guests at once. Neither boots before the other does: each one gets rows.
class TwoGuests final : public TestbedFactory, public Progress {
public:
    explicit TwoGuests(FakeFactory& factory) : factory_(factory) {}

    hp::Result<std::unique_ptr<Testbed>> boot(const std::filesystem::path& log_dir) override {
        if (begun_++ < 2) {
            both_.arrive_and_wait();
        }
        return factory_.boot(log_dir);
    }
    bool guest_ran(const std::filesystem::path& log_dir) const override {
        return factory_.guest_ran(log_dir);
    }

    void run_started(size_t) override {}
    void booting() override {}
    void row_started(const std::string& id) override {
        const std::lock_guard held(lock_);
        ran_in_[id] = std::this_thread::get_id();
    }
    void step_started(const std::string&, const std::string&) override {}
    void row_finished(const RowResult&) override {
        if (ends_run_) {
            Deadline::limit_all(Clock::duration::zero());
        }
    }
    void note(const std::string&) override {}

    /// Whichever that is: the other guest may be done with all others before a given one ends.
    void end_run_after_first_row() { ends_run_ = true; }
    std::thread::id thread_of(const std::string& row) const { return ran_in_.at(row); }
    size_t threads() const {
        std::set<std::thread::id> all;
        for (const auto& [row, thread] : ran_in_) {
            all.insert(thread);
        }
        return all.size();
    }

private:
    FakeFactory& factory_;
    std::atomic<unsigned> begun_{0};
    std::latch both_{2};
    bool ends_run_ = false;
    std::mutex lock_;
    std::map<std::string, std::thread::id> ran_in_;
};

class TwoGuestsTest : public RunnerTest {
protected:
    RunReport run_at_once(const std::vector<Row>& rows) {
        RunnerConfig made = config();
        made.guests = 2;
        Runner runner(two_, two_, std::move(made));
        return runner.run(rows, {});
    }
    std::vector<Row> tries(unsigned count) {
        std::vector<Row> rows(count, Row{&scenario_, nullptr, 0});
        for (unsigned i = 0; i < count; ++i) {
            rows[i].attempt = i + 1;
        }
        return rows;
    }
    static std::multiset<std::string> ids(const std::vector<Row>& rows) {
        std::multiset<std::string> all;
        for (const Row& row : rows) {
            all.insert(row.id());
        }
        return all;
    }
    /// Those with a verdict and those without, each once.
    static std::multiset<std::string> accounted_for(const RunReport& report) {
        std::multiset<std::string> all(report.not_run.begin(), report.not_run.end());
        for (const RowResult& row : report.rows) {
            all.insert(row.id);
        }
        return all;
    }

    TwoGuests two_{factory_};
};

TEST_F(TwoGuestsTest, EachRowRunsOnceAndBothGuestsRunRows) {
    factory_.flaws.kfd_broken = true;
    const auto rows = tries(5);
    const RunReport report = run_at_once(rows);
    EXPECT_EQ(report.info.error, "");
    EXPECT_EQ(accounted_for(report), ids(rows));
    EXPECT_TRUE(report.not_run.empty());
    EXPECT_EQ(two_.threads(), 2U);
    EXPECT_EQ(report.info.boots, static_cast<unsigned>(factory_.boots));
    for (const RowResult& row : report.rows) {
        EXPECT_EQ(row.outcome, Outcome::fail) << row.id;
        EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(row.bundle) / "console.log"))
            << row.bundle;
    }
}

TEST_F(TwoGuestsTest, CyclesOfASoakStayOnOneGuest) {
    Scenario soak = scenario_;
    soak.id = "soak";
    soak.cycles = 4;
    std::vector<Row> rows;
    for (unsigned cycle = 1; cycle <= soak.cycles; ++cycle) {
        rows.push_back({&soak, nullptr, cycle});
    }
    const auto others = tries(4);
    rows.insert(rows.end(), others.begin(), others.end());
    const RunReport report = run_at_once(rows);
    EXPECT_EQ(report.rows.size(), 8U);
    EXPECT_EQ(two_.threads(), 2U);
    for (const Row& row : std::span(rows).first(soak.cycles)) {
        EXPECT_EQ(two_.thread_of(row.id()), two_.thread_of(rows.front().id())) << row.id();
    }
    for (const RowResult& row : report.rows) {
        EXPECT_TRUE(row.id == rows[0].id() || !row.id.starts_with("soak") || !row.fresh_boot)
            << row.id;
    }
}

TEST_F(TwoGuestsTest, GuestThatDoesNotBootEndsTheRunOfBoth) {
    factory_.flaws.boot_fails = true;
    const auto rows = tries(6);
    const RunReport report = run_at_once(rows);
    EXPECT_EQ(report.info.error, "no hello from the agent");
    EXPECT_EQ(accounted_for(report), ids(rows));
    EXPECT_EQ(report.not_run.size(), 6U);
}

TEST_F(TwoGuestsTest, RunThatIsOutOfTimeAccountsForEachRow) {
    const auto rows = tries(6);
    two_.end_run_after_first_row();
    const RunReport report = run_at_once(rows);
    Deadline::lift_limit();
    EXPECT_TRUE(report.info.out_of_time);
    EXPECT_FALSE(report.rows.empty());
    EXPECT_EQ(accounted_for(report), ids(rows));
}

}  // namespace
}  // namespace hotplug
