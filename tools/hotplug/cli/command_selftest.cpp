// SPDX-License-Identifier: GPL-2.0
// Purpose: `hpctl selftest`: proves that every detector of a debug kernel fires, and that what it
// says is taken for a complaint. A kernel that stays silent here has no say about a driver. With
// --mutations it proves the same of the checks: a row with a fault fails the one that is for it.
// Thread: one.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "hotplug/cli/commands.h"
#include "hotplug/judge/kernel_log.h"
#include "hotplug/machine/machine.h"

namespace hotplug {

namespace {

constexpr const char* provoke_file = "/sys/kernel/debug/detectors";
constexpr auto answer_time = std::chrono::seconds(30);
constexpr auto scan_time = std::chrono::minutes(3);
/// Twice what the test sets the kernel's own limit to, and the time khungtaskd needs to look.
constexpr auto hung_task_time = std::chrono::seconds(40);
constexpr const char* hung_task_limit = "5";

struct Detector {
    std::string_view word;  // of tools/hotplug/detectors
    ComplaintKind kind;
};

// Lockdep first: any other report switches it off.
constexpr std::array at_once{
    Detector{"lockdep", ComplaintKind::lockdep},      Detector{"atomic-sleep", ComplaintKind::bug},
    Detector{"kasan", ComplaintKind::kasan},          Detector{"dma-debug", ComplaintKind::dma_api},
    Detector{"list", ComplaintKind::list_corruption},
};

class SelfTest {
public:
    explicit SelfTest(Machine& machine) : agent_(machine.agent()) {}

    hp::Result<CommandStatus> run() {
        if (const auto loaded = agent_.run({"modprobe", "detectors"}, answer_time);
            !loaded || loaded->status != 0) {
            return hp::fail(fmt::format(
                "the guest has no detectors.ko: was its image made for this kernel tree? {}",
                loaded ? loaded->err : loaded.error().message));
        }
        for (const Detector& detector : at_once) {
            judge(detector.word, provoke_and_find(detector));
        }
        judge("shirq", shared_handler_called());
        judge("kmemleak", leaks_found());
        judge("hung-task", hung_task_found());
        fmt::print("{} passed, {} failed\n", passed_, failed_);
        return failed_ == 0 ? exit_pass : exit_fail;
    }

private:
    void judge(std::string_view name, const hp::Result<std::string>& seen) {
        if (seen) {
            ++passed_;
            fmt::print("ok - {}: {}\n", name, *seen);
        } else {
            ++failed_;
            fmt::print("not ok - {}: {}\n", name, seen.error().message);
        }
    }

    hp::Result<void> provoke(std::string_view word) {
        const auto written =
            agent_.write(provoke_file, std::string(word) + "\n", Deadline::after(answer_time));
        if (!written) {
            return tl::unexpected(written.error());
        }
        if (written->error != 0) {
            return hp::fail("the kernel refused: " + written->error_text);
        }
        return {};
    }

    /// A mark in the log tells when all that was logged before it has come: an answer may overtake
    /// a long report when the port is full.
    hp::Result<std::string> provoke_and_find(const Detector& detector) {
        const size_t from = agent_.kernel_log_size();
        if (const auto done = provoke(detector.word); !done) {
            return tl::unexpected(done.error());
        }
        const auto mark = agent_.mark_kernel_log(fmt::format("hpctl: provoked {}", detector.word),
                                                 Deadline::after(answer_time));
        if (!mark) {
            return tl::unexpected(mark.error());
        }
        const KernelLogSummary summary = classify(agent_.kernel_log(from));
        const auto complaint =
            std::find_if(summary.complaints.begin(), summary.complaints.end(),
                         [&](const Complaint& seen) { return seen.kind == detector.kind; });
        if (complaint == summary.complaints.end()) {
            return hp::fail(fmt::format("no {} complaint among the {} in the kernel log",
                                        to_string(detector.kind), summary.complaints.size()));
        }
        return complaint->title;
    }

    /// CONFIG_DEBUG_SHIRQ calls a shared handler once more when it is freed; the module counts.
    hp::Result<std::string> shared_handler_called() {
        const size_t from = agent_.kernel_log_size();
        if (const auto done = provoke("shirq"); !done) {
            return tl::unexpected(done.error());
        }
        const auto line = agent_.wait_kernel_line(
            from,
            [](const KernelLine& seen) {
                return seen.text.find("shared handler called") != std::string::npos &&
                       seen.text.find("called 0 times") == std::string::npos;
            },
            "the module's line about calls by free_irq()", Deadline::after(answer_time));
        return line.map([](const KernelLine& seen) { return seen.text; });
    }

    hp::Result<std::string> leaks_found() {
        if (const auto done = provoke("kmemleak"); !done) {
            return tl::unexpected(done.error());
        }
        // kmemleak leaves alone what is younger than 5 s (MSECS_MIN_AGE): wait on the guest's
        // clock.
        if (const auto aged = agent_.run({"sleep", "6"}, answer_time); !aged) {
            return tl::unexpected(aged.error());
        }
        const auto reports = agent_.kmemleak(Deadline::after(scan_time));
        if (!reports) {
            return tl::unexpected(reports.error());
        }
        const auto ours = std::count_if(reports->begin(), reports->end(), [](const auto& report) {
            return report.find("[detectors]") != std::string::npos;
        });
        if (ours == 0) {
            return hp::fail(fmt::format("{} reports, none of the module", reports->size()));
        }
        return fmt::format("{} leaked objects reported", ours);
    }

    hp::Result<std::string> hung_task_found() {
        const auto limit = agent_.write("/proc/sys/kernel/hung_task_timeout_secs", hung_task_limit,
                                        Deadline::after(answer_time));
        if (!limit || limit->error != 0) {
            return hp::fail("the kernel has no hung task detector");
        }
        const size_t from = agent_.kernel_log_size();
        if (const auto done = provoke("hung-task"); !done) {
            return tl::unexpected(done.error());
        }
        const auto line = agent_.wait_kernel_line(
            from,
            [](const KernelLine& seen) {
                return seen.text.find("detectors-hung") != std::string::npos &&
                       seen.text.find("blocked for more than") != std::string::npos;
            },
            "khungtaskd's report", Deadline::after(hung_task_time));
        if (const auto woken = provoke("wake"); !woken) {
            return tl::unexpected(woken.error());
        }
        if (!line) {
            return tl::unexpected(line.error());
        }
        const KernelLogSummary summary = classify(agent_.kernel_log(from));
        const bool complained = std::any_of(
            summary.complaints.begin(), summary.complaints.end(),
            [](const Complaint& seen) { return seen.kind == ComplaintKind::hung_task; });
        return complained ? hp::Result<std::string>(line->text)
                          : hp::fail("reported, but not taken for a complaint");
    }

    AgentClient& agent_;
    unsigned passed_ = 0;
    unsigned failed_ = 0;
};

/// They are rows as any other: what has to fail is a list of known failures, so that a check which
/// passes, and another one which fails, make the run fail.
hp::Result<CommandStatus> run_mutations(const SelftestOptions& options) {
    const auto scenarios = scenario_folder("");
    if (!scenarios) {
        return tl::unexpected(scenarios.error());
    }
    const std::filesystem::path folder = *scenarios / "mutations";
    RunOptions run;
    run.machine = options.machine;
    run.rows = options.rows;
    run.scenarios = folder;
    run.expected = folder / "expected/mutations.json";
    run.results = options.results;
    run.fail_on_skip = true;
    run.guests = options.guests;
    return run_command(std::move(run));
}

}  // namespace

hp::Result<CommandStatus> selftest_command(const SelftestOptions& options) {
    if (options.mutations) {
        return run_mutations(options);
    }
    auto config = options.machine.machine_config();
    if (!config) {
        return tl::unexpected(config.error());
    }
    config->log_dir = std::filesystem::absolute(options.results) / "selftest";
    config->load_driver = false;
    config->slots.resize(1);
    auto machine = Machine::start(std::move(*config));
    if (!machine) {
        return tl::unexpected(machine.error());
    }
    return SelfTest(**machine).run();
}

}  // namespace hotplug
