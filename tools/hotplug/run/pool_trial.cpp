// SPDX-License-Identifier: GPL-2.0
// Purpose: see pool_trial.h.
// Thread: see pool_trial.h.
#include "hotplug/run/pool_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "hotplug/base/child_process.h"
#include "hotplug/judge/check.h"
#include "hotplug/run/row_state.h"

namespace hotplug {

namespace {

namespace fs = std::filesystem;

/// It has a daemon, guests and boards to end.
constexpr auto end_grace = std::chrono::seconds(60);

Command command_of(const PoolTrials& trials, const Row& row, const fs::path& folder,
                   const MachineConfig& machine) {
    Command command{
        {"python3", trials.script, "--daemon", trials.daemon, "--results", folder, "--kernel",
         fmt::format("guest={}:{}", machine.kernel.string(), machine.initrd.string()),
         "--memory-mib", std::to_string(machine.memory_mib), row.variant->name},
        {{"HP_EMULATOR", machine.emulator}}};
    if (!machine.qemu.packages.empty()) {
        command.environment["HP_TOOLROOT"] = machine.qemu.packages.parent_path();
    }
    return command;
}

std::string text_of(const fs::path& file) {
    std::ifstream in(file);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

/// Why the row fails; empty: it does not.
std::string judge_trial(const std::optional<ExitStatus>& status, const Deadline& deadline,
                        const std::vector<TestResult>& tests, const fs::path& log) {
    if (!status) {
        return fmt::format("{} (see {})", deadline.missed("the trial to end"), log.string());
    }
    const auto bad = std::find_if(tests.begin(), tests.end(), [](const TestResult& test) {
        return test.outcome == TestOutcome::fail;
    });
    if (bad != tests.end()) {
        return fmt::format("{}: {}", bad->name, bad->note);
    }
    if (!status->ok() || tests.empty()) {
        return fmt::format("the trial ended with {} and {} results (see {})", status->describe(),
                           tests.size(), log.string());
    }
    return {};
}

}  // namespace

RowResult PoolTrials::run(const Row& row, const MachineConfig& machine) const {
    RowResult result = result_for(row);
    const auto start = Deadline::Clock::now();
    const fs::path folder = results_dir / "pool" / row.variant->name;
    std::error_code error;
    fs::remove_all(folder, error);
    fs::create_directories(folder, error);
    const fs::path log = folder / "trial.log";
    const Deadline deadline = Deadline::after(*row.scenario->pool);
    auto trial = ChildProcess::start(command_of(*this, row, folder, machine), log, SIGTERM);
    std::string failure;
    if (trial) {
        const auto status = trial->wait(deadline);
        if (!status) {
            trial->terminate(end_grace);
        }
        result.tests = parse_ktap(text_of(log));
        failure = judge_trial(status, deadline, result.tests, log);
    } else {
        failure = trial.error().message;
    }
    result.checks = {check_steps(failure)};
    result.duration =
        std::chrono::duration_cast<std::chrono::milliseconds>(Deadline::Clock::now() - start);
    return result;
}

}  // namespace hotplug
