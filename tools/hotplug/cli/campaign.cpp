// SPDX-License-Identifier: GPL-2.0
// Purpose: see campaign.h.
// Thread: one.
#include "hotplug/cli/campaign.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <fstream>
#include <set>

#include "hotplug/report/table.h"
#include "hotplug/run/machine_testbed.h"
#include "hotplug/run/progress.h"
#include "hotplug/sweep/kernel_identity.h"

namespace hotplug {

namespace {

namespace fs = std::filesystem;

hp::Result<void> write_lines(const fs::path& file, const std::vector<std::string>& lines) {
    std::ofstream out(file);
    for (const std::string& line : lines) {
        out << line << '\n';
    }
    if (!out.flush()) {
        return hp::fail(fmt::format("{}: cannot write", file.string()));
    }
    return {};
}

}  // namespace

fs::path journal_of(const fs::path& results, const std::string& name) {
    return results / (name + ".jsonl");
}

std::vector<fs::path> journals_of(const std::vector<std::string>& named, const std::string& name) {
    std::vector<fs::path> files;
    for (const std::string& each : named) {
        const fs::path path = fs::absolute(each);
        files.push_back(fs::is_directory(path) ? journal_of(path, name) : path);
    }
    return files;
}

hp::Result<fs::path> make_results(const std::string& results) {
    const fs::path folder = fs::absolute(results);
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) {
        return hp::fail(fmt::format("{}: cannot make the results folder: {}", folder.string(),
                                    error.message()));
    }
    return folder;
}

hp::Result<JournalIdentity> identity_of(const MachineOptions& options, const MachineConfig& machine,
                                        uint64_t seed, uint64_t amount) {
    return kernel_identity(machine.kernel, options.kernel, machine.initrd)
        .map([&](std::string kernel) {
            return JournalIdentity{.kernel = std::move(kernel),
                                   .profile = options.profile,
                                   .cpus = options.cpus,
                                   .seed = seed,
                                   .amount = amount};
        });
}

hp::Result<CommandStatus> conclude(const CampaignText& text, const fs::path& results) {
    if (auto written = write_lines(results / (text.name + ".txt"), {text.text}); !written) {
        return tl::unexpected(written.error());
    }
    if (auto written = write_lines(results / "replay.txt", text.replays); !written) {
        return tl::unexpected(written.error());
    }
    fmt::print("\n{}", text.text);
    if (!text.replays.empty()) {
        fmt::print("\nOne command for each failure: {}\n", (results / "replay.txt").string());
    }
    std::fflush(stdout);
    return text.replays.empty() ? exit_pass : exit_fail;
}

hp::Result<CommandStatus> run_campaign(MachineConfig machine, RowSource& rows, RunInfo info,
                                       const fs::path& results,
                                       const std::function<CampaignText()>& text) {
    MachineFactory factory(std::move(machine));
    RunReport report;
    {
        TextProgress progress(stdout, ::isatty(STDOUT_FILENO) != 0);
        std::set<std::string> seen;
        const auto is_new = [&](const RowResult& row) {
            bool found = false;
            for (const Finding& finding : findings_of(row)) {
                found = seen.insert(finding.key()).second || found;
            }
            return found;
        };
        const auto none_known = [](const GuestFacts&) {
            return hp::Result<ExpectedFailures>(ExpectedFailures());
        };
        // A folder of its own for each time that it goes on.
        const std::string run =
            fmt::format("run-{:%Y%m%dT%H%M%SZ}", fmt::gmtime(std::time(nullptr)));
        Runner runner(factory, progress, {results / run, none_known, is_new});
        report = runner.run(rows, std::move(info));
    }
    if (report.info.interrupted) {
        return exit_interrupted;
    }
    const auto status = conclude(text(), results);
    fmt::print("{}", format_integrity(report.integrity));
    std::fflush(stdout);
    if (verdict_of(report) == RunVerdict::error) {
        return hp::fail(first_error(report.integrity));
    }
    if (!status || report.integrity.sound()) {
        return status;
    }
    return exit_fail;
}

}  // namespace hotplug
