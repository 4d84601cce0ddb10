// SPDX-License-Identifier: GPL-2.0
// Purpose: `hpctl run`: selects rows, runs them, writes the reports.
// Thread: one.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "hotplug/cli/commands.h"
#include "hotplug/judge/expected_update.h"
#include "hotplug/report/report_files.h"
#include "hotplug/report/table.h"
#include "hotplug/run/machine_testbed.h"
#include "hotplug/run/progress.h"
#include "hotplug/run/runner.h"

namespace hotplug {

namespace {

namespace fs = std::filesystem;

/// The ids of the rows that were red in the folder's results.json.
hp::Result<std::vector<std::string>> failed_rows(const fs::path& results) {
    const fs::path file = results / "results.json";
    std::ifstream in(file);
    const auto json = nlohmann::json::parse(in, nullptr, false);
    std::vector<std::string> ids;
    try {
        for (const auto& row : json.at("rows")) {
            const auto outcome = row.at("outcome").get<std::string>();
            if (outcome == to_string(Outcome::fail) || outcome == to_string(Outcome::fixed)) {
                ids.push_back(row.at("id").get<std::string>());
            }
        }
    } catch (const nlohmann::json::exception&) {
        return hp::fail(fmt::format("{}: no results of an earlier run, which --only-failed needs",
                                    file.string()));
    }
    return ids;
}

/// Makes the folder, and removes what an earlier run left there; nothing else in it.
hp::Result<void> prepare(const fs::path& results) {
    std::error_code error;
    fs::create_directories(results, error);
    if (error) {
        return hp::fail(fmt::format("{}: cannot make the results folder: {}", results.string(),
                                    error.message()));
    }
    for (auto entry = fs::directory_iterator(results, error);
         !error && entry != fs::directory_iterator(); entry.increment(error)) {
        const std::string name = entry->path().filename();
        if (name == "failed" || name.starts_with("boot-")) {
            fs::remove_all(entry->path(), error);
        }
    }
    if (error) {
        return hp::fail(fmt::format("{}: cannot clear the results folder: {}", results.string(),
                                    error.message()));
    }
    return {};
}

RunInfo run_info(const RunOptions& options, const MachineConfig& machine) {
    RunInfo info;
    info.seed = options.seed;
    info.command = {"run"};
    info.command.insert(info.command.end(), options.rows.begin(), options.rows.end());
    const auto arguments = options.arguments();
    info.command.insert(info.command.end(), arguments.begin(), arguments.end());
    info.versions = {{"QEMU", machine.qemu.version_line},
                     {"kernel image", machine.kernel.string()},
                     {"guest image", machine.initrd.string()},
                     {"emulator", machine.emulator.string()},
                     {"accelerator", options.machine.accelerator}};
    const std::pair<const char*, fs::path> lists[] = {
        {"QEMU", machine.qemu.packages},
        {"guest image", fs::path(machine.initrd.string() + ".packages")},
        {"kernel", options.machine.kernel / fs::path(".packages")},
    };
    for (const auto& [what, list] : lists) {
        if (auto packages = read_packages(list); !packages.empty()) {
            info.packages[what] = std::move(packages);
        }
    }
    info.started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    return info;
}

class ExpectedSource {
public:
    ExpectedSource(std::string named, fs::path folder)
        : named_(std::move(named)), folder_(std::move(folder)) {}

    /// A list that was named must exist; that of a kernel may be missing: nothing is known to fail
    /// then.
    hp::Result<ExpectedFailures> load(const GuestFacts& facts) {
        if (named_ == "none") {
            return ExpectedFailures();
        }
        file_ = named_.empty() ? expected_file(folder_, facts.release, facts.flavour())
                               : fs::path(named_);
        std::error_code error;
        if (named_.empty() && !fs::exists(file_, error)) {
            return ExpectedFailures();
        }
        auto loaded = ExpectedFailures::load(file_);
        if (loaded) {
            loaded_ = *loaded;
        }
        return loaded;
    }

    hp::Result<fs::path> update(const std::vector<RowResult>& rows) const {
        if (file_.empty()) {
            return hp::fail(
                "--update-expected has no list to write: no guest ran, or it is 'none'");
        }
        std::error_code error;
        fs::create_directories(file_.parent_path(), error);
        return updated(loaded_, rows).save(file_).map([&] { return file_; });
    }

private:
    std::string named_;
    fs::path folder_;
    fs::path file_;
    ExpectedFailures loaded_;
};

hp::Result<std::vector<Row>> select_rows(const ScenarioCatalogue& catalogue,
                                         const RunOptions& options) {
    std::vector<std::string> wanted = options.rows;
    if (options.only_failed) {
        auto failed = failed_rows(options.results);
        if (!failed) {
            return tl::unexpected(failed.error());
        }
        wanted = std::move(*failed);
    }
    auto rows = catalogue.select(wanted, options.cycles, options.seed);
    if (rows) {
        order_rows(*rows, options.seed);
    }
    return rows;
}

}  // namespace

hp::Result<CommandStatus> run_command(RunOptions options) {
    if (options.rows.empty()) {
        options.rows = {"flagship"};
    }
    const fs::path folder = scenario_folder(options.scenarios);
    const auto catalogue = ScenarioCatalogue::load(folder);
    if (!catalogue) {
        return tl::unexpected(catalogue.error());
    }
    const auto rows = select_rows(*catalogue, options);
    if (!rows) {
        return tl::unexpected(rows.error());
    }
    // A kernel that is not there costs nobody yesterday's results. Whatever ends this command
    // later, it does not leave them for those of today.
    if (auto kernel = find_kernel(options.machine.kernel); !kernel) {
        return tl::unexpected(kernel.error());
    }
    const fs::path results = fs::absolute(options.results);
    ReportFiles reports(results);
    if (auto prepared = prepare(results).and_then([&] { return reports.remove(); }); !prepared) {
        return tl::unexpected(prepared.error());
    }
    auto machine = options.machine.machine_config();
    if (!machine) {
        return tl::unexpected(machine.error());
    }

    RunInfo info = run_info(options, *machine);
    ExpectedSource expected(options.expected, folder / "expected");
    MachineFactory factory(std::move(*machine));
    RunReport report;
    {
        TextProgress progress(stdout, ::isatty(STDOUT_FILENO) != 0);
        Runner runner(
            factory, progress,
            {.results_dir = results,
             .expected = [&](const GuestFacts& facts) { return expected.load(facts); },
             .keep = [&](const RunReport& so_far,
                         size_t planned) { return reports.write_unfinished(so_far, planned); },
             .fail_on_skip = options.fail_on_skip});
        report = runner.run(*rows, std::move(info));
    }
    if (auto written = reports.write(report); !written) {
        return tl::unexpected(written.error());
    }
    fmt::print("\nReport: {}\n\n{}", reports.page().string(), format_table(report));
    std::fflush(stdout);  // before anything on the other stream
    if (report.info.interrupted) {
        return kExitInterrupted;
    }
    const RunVerdict verdict = verdict_of(report);
    if (verdict == RunVerdict::error) {
        return hp::fail(first_error(report.integrity));
    }
    if (options.update_expected) {
        const auto file = expected.update(report.rows);
        if (!file) {
            return tl::unexpected(file.error());
        }
        fmt::print(stderr, "wrote {}\n", file->string());
        return kExitPass;
    }
    return verdict == RunVerdict::pass ? kExitPass : kExitFail;
}

}  // namespace hotplug
