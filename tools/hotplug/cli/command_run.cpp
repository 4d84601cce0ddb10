// SPDX-License-Identifier: GPL-2.0
// Purpose: `hpctl run`: selects rows, runs them, writes the reports.
// Thread: one.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>

#include "hotplug/base/parts.h"
#include "hotplug/cli/commands.h"
#include "hotplug/cli/kernel_source.h"
#include "hotplug/cli/version.h"
#include "hotplug/judge/expected_update.h"
#include "hotplug/machine/host_memory.h"
#include "hotplug/report/junit.h"
#include "hotplug/report/kcidb.h"
#include "hotplug/report/ktap.h"
#include "hotplug/report/report_files.h"
#include "hotplug/report/table.h"
#include "hotplug/run/machine_testbed.h"
#include "hotplug/run/plan.h"
#include "hotplug/run/pool_trial.h"
#include "hotplug/run/progress.h"
#include "hotplug/run/runner.h"
#include "hotplug/sweep/kernel_identity.h"

namespace hotplug {

namespace {

namespace fs = std::filesystem;

/// The names of the rows that were red in the folder's results.json.
hp::Result<std::vector<std::string>> failed_rows(const fs::path& results) {
    const fs::path file = results / "results.json";
    std::ifstream in(file);
    const auto json = nlohmann::json::parse(in, nullptr, false);
    std::vector<std::string> ids;
    try {
        for (const auto& row : json.at("rows")) {
            const auto outcome = row.at("outcome").get<std::string>();
            if (outcome == to_string(Outcome::fail) || outcome == to_string(Outcome::fixed)) {
                ids.push_back(row.at("name").get<std::string>());
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
        if (name == "failed" || name.starts_with("hang-") || name.starts_with("boot-")) {
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
    info.versions = {{"hpctl", commit_text()},
                     {"QEMU", machine.qemu.version_line},
                     {"kernel image", machine.kernel.string()},
                     {"guest image", machine.initrd.string()},
                     {"emulator", machine.emulator.string()},
                     {"accelerator", name(machine.accelerator)}};
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
    info.started = utc_text(std::time(nullptr));
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

/// Known before the first row, and not after the last one.
hp::Result<void> allow_update(const RunOptions& options, const fs::path& scenarios) {
    if (options.update_expected && options.expected.empty() &&
        Parts::of_this_program().installed(scenarios)) {
        return hp::fail(fmt::format(
            "--update-expected: the lists in {} are installed: copy one and name the copy by "
            "--expected",
            (scenarios / "expected").string()));
    }
    return {};
}

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
    if (!rows) {
        return rows;
    }
    if (auto excluded = catalogue.exclude(*rows, options.exclude); !excluded) {
        return tl::unexpected(excluded.error());
    }
    if (rows->empty() && !wanted.empty()) {
        return hp::fail("--exclude leaves no row to run");
    }
    if (options.watch_s) {
        for (Row& row : *rows) {
            row.watch = std::chrono::seconds(*options.watch_s);
        }
    }
    return repeat_rows(std::move(*rows), options.repeat, options.seed);
}

/// Before anything is downloaded, built or booted.
void print_plan(const RunOptions& options, const std::vector<Row>& rows) {
    GuestFacts machine;
    machine.gpus = options.machine.gpus;
    machine.profile = options.machine.profile;
    machine.behind_switch = options.machine.behind_switch;
    fmt::print(
        "{}: kernel {}, {} of {}, {} CPUs, {} MiB, {}{}\n{}",
        options.guests == 1 ? "each guest" : fmt::format("{} guests at once, each", options.guests),
        options.machine.kernel, machine.gpus, machine.profile, options.machine.cpus,
        options.machine.memory_mib,
        options.machine.accelerator == "auto" ? "KVM or TCG" : options.machine.accelerator,
        machine.behind_switch ? ", a PCIe switch" : "", describe_plan(rows, machine));
    std::fflush(stdout);
}

/// The limit on all waits, as long as it lives.
class RunLimit {
public:
    explicit RunLimit(unsigned seconds) {
        if (seconds != 0) {
            Deadline::limit_all(std::chrono::seconds(seconds));
        }
    }
    ~RunLimit() { Deadline::lift_limit(); }
    RunLimit(const RunLimit&) = delete;
    RunLimit& operator=(const RunLimit&) = delete;
};

hp::Result<KcidbSource> kcidb_source(const RunOptions& options, const MachineConfig& machine) {
    std::random_device random;
    return kernel_identity(machine.kernel, options.machine.kernel, machine.initrd)
        .map([&](std::string kernel) {
            return KcidbSource{.origin = options.kcidb_origin,
                               .run = fmt::format("{:08x}{:08x}", random(), random()),
                               .build = options.kcidb_build,
                               .kernel = std::move(kernel),
                               .checkout = describe_source(options.machine.kernel)};
        });
}

hp::Result<Quarantine> load_quarantine(const RunOptions& options,
                                       const ScenarioCatalogue& catalogue) {
    if (options.quarantine.empty()) {
        return Quarantine();
    }
    return Quarantine::load(options.quarantine).map([&](const auto& entries) {
        return Quarantine(entries, catalogue,
                          std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
    });
}

hp::Result<HangExaminer> hang_examiner(const RunOptions& options, const MachineConfig& machine) {
    return script_folder().map([&](const fs::path& scripts) {
        return HangExaminer({.dump = *parse_dump_of(options.dump),
                             .kept = options.keep_dumps,
                             .script = scripts / "guest/blocked-tasks",
                             .kernel = machine.kernel});
    });
}

/// What runs the trials of the pool; nothing where no row is one.
hp::Result<std::function<RowResult(const Row&)>> pool_trial(const std::vector<Row>& rows,
                                                            const MachineConfig& machine,
                                                            const fs::path& results) {
    if (std::none_of(rows.begin(), rows.end(),
                     [](const Row& row) { return row.scenario->pool.has_value(); })) {
        return {};
    }
    const Parts parts = Parts::of_this_program();
    const auto script = parts.find(Part::pool_trial);
    const auto daemon = parts.find(Part::pool_daemon);
    if (!script || !daemon) {
        return tl::unexpected(script ? daemon.error() : script.error());
    }
    return [trials = PoolTrials{*script, *daemon, results}, machine](const Row& row) {
        return trials.run(row, machine);
    };
}

/// Reports that were asked for beside those of the results folder. `source` is read when they are
/// written.
std::vector<ReportFile> more_reports(const RunOptions& options, const KcidbSource& source) {
    std::vector<ReportFile> more;
    if (!options.ktap.empty() && options.ktap != "-") {
        more.push_back({fs::absolute(options.ktap), format_ktap});
    }
    if (!options.junit.empty()) {
        more.push_back({fs::absolute(options.junit), format_junit});
    }
    if (!options.kcidb.empty()) {
        more.push_back({fs::absolute(options.kcidb), [&source](const RunReport& report) {
                            return format_kcidb(report, source);
                        }});
    }
    return more;
}

TimeLeft time_left_of(const std::vector<Row>& rows, const fs::path& results) {
    std::vector<std::string> ids;
    for (const Row& row : rows) {
        ids.push_back(row.id());
    }
    return {results / "results.json", std::move(ids)};
}

hp::Result<CommandStatus> status_of(const RunReport& report, const RunOptions& options,
                                    const ExpectedSource& expected) {
    if (report.info.interrupted) {
        return exit_interrupted;
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
        return exit_pass;
    }
    if (only_out_of_time(report)) {
        return exit_out_of_time;
    }
    return verdict == RunVerdict::pass ? exit_pass : exit_fail;
}

}  // namespace

hp::Result<CommandStatus> run_command(RunOptions options) {
    if (options.rows.empty()) {
        options.rows = {"flagship"};
    }
    const auto folder = scenario_folder(options.scenarios);
    const auto catalogue = folder.and_then(ScenarioCatalogue::load);
    if (!catalogue) {
        return tl::unexpected(catalogue.error());
    }
    const auto rows = select_rows(*catalogue, options);
    if (!rows) {
        return tl::unexpected(rows.error());
    }
    if (auto allowed = allow_update(options, *folder); !allowed) {
        return tl::unexpected(allowed.error());
    }
    auto quarantine = load_quarantine(options, *catalogue);
    if (!quarantine) {
        return tl::unexpected(quarantine.error());
    }
    if (options.dry_run) {
        print_plan(options, *rows);
        return exit_pass;
    }
    const RunLimit limit(options.run_timeout_s);
    // A kernel that is not there costs nobody yesterday's results. Whatever ends this command
    // later, it does not leave them for those of today.
    if (auto kernel = find_kernel(options.machine.kernel); !kernel) {
        return tl::unexpected(kernel.error());
    }
    const fs::path results = fs::absolute(options.results);
    TimeLeft time_left = time_left_of(*rows, results);  // before the earlier run's results go
    KcidbSource source;
    ReportFiles reports(results, more_reports(options, source));
    if (auto prepared = prepare(results).and_then([&] { return reports.remove(); }); !prepared) {
        return tl::unexpected(prepared.error());
    }
    auto machine = options.machine.machine_config();
    if (!machine) {
        return tl::unexpected(machine.error());
    }
    const auto at_once = static_cast<unsigned>(std::min<size_t>(options.guests, rows->size()));
    if (auto fits = check_memory(*machine, at_once); !fits) {
        return tl::unexpected(fits.error());
    }
    if (!options.kcidb.empty()) {
        auto described = kcidb_source(options, *machine);
        if (!described) {
            return tl::unexpected(described.error());
        }
        source = std::move(*described);
    }

    auto examiner = hang_examiner(options, *machine);
    if (!examiner) {
        return tl::unexpected(examiner.error());
    }
    auto trial = pool_trial(*rows, *machine, results);
    if (!trial) {
        return tl::unexpected(trial.error());
    }
    RunInfo info = run_info(options, *machine);
    ExpectedSource expected(options.expected, *folder / "expected");
    MachineFactory factory(std::move(*machine));
    RunReport report;
    const bool streams = options.ktap == "-";
    std::FILE* const text = streams ? stderr : stdout;
    KtapStream ktap(stdout);
    const auto keep = [&](const RunReport& so_far, size_t planned) -> hp::Result<void> {
        if (auto told = streams ? ktap.advance(so_far, planned) : hp::Result<void>(); !told) {
            return told;
        }
        return reports.write_unfinished(so_far, planned);
    };
    {
        TextProgress progress(text, ::isatty(::fileno(text)) != 0, std::move(time_left));
        Runner runner(factory, progress,
                      {.results_dir = results,
                       .expected = [&](const GuestFacts& facts) { return expected.load(facts); },
                       .keep = keep,
                       .examiner = std::move(*examiner),
                       .pool_trial = std::move(*trial),
                       .fail_on_skip = options.fail_on_skip,
                       .quarantine = std::move(*quarantine),
                       .guests = at_once});
        report = runner.run(*rows, std::move(info));
    }
    if (auto written = reports.write(report); !written) {
        return tl::unexpected(written.error());
    }
    if (auto told = streams ? ktap.finish(report) : hp::Result<void>(); !told) {
        return tl::unexpected(told.error());
    }
    fmt::print(text, "\nReport: {}\n\n{}", reports.page().string(), format_table(report));
    std::fflush(text);  // before anything on the other stream
    return status_of(report, options, expected);
}

}  // namespace hotplug
