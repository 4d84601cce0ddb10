// SPDX-License-Identifier: GPL-2.0
// Purpose: hpctl: plugs, pulls, breaks and replaces emulated AMD GPUs in a guest and judges the
// driver. Thread: one; SIGINT and SIGTERM end all waits, and the command then puts everything away.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>

#include "hotplug/base/deadline.h"
#include "hotplug/cli/commands.h"
#include "hotplug/cli/describe_options.h"
#include "hotplug/cli/version.h"

namespace {

using hotplug::CommandStatus;

void handle_signals() {
    struct sigaction action {};
    action.sa_handler = [](int) { hotplug::Deadline::interrupt_all(); };
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    signal(SIGPIPE, SIG_IGN);  // a guest or a reader that went away is an error of write(2)
}

int report(const hp::Result<CommandStatus>& result) {
    if (hotplug::Deadline::interrupted() && !hotplug::Deadline::out_of_time()) {
        fmt::print(stderr, "hpctl: interrupted\n");
        return hotplug::exit_interrupted;
    }
    if (!result) {
        fmt::print(stderr, "hpctl: {}\n", result.error().message);
        return hotplug::exit_error;
    }
    if (*result == hotplug::exit_out_of_time) {
        fmt::print(stderr, "hpctl: the time was over before the last row\n");
    }
    return *result;
}

std::string exit_text() {
    std::string text = "Exit status:";
    for (const auto& [status, meaning] : hotplug::exit_table()) {
        text += fmt::format("\n  {:<4} {}", static_cast<int>(status), meaning);
    }
    return text;
}

int run(int argc, char** argv) {
    CLI::App app(
        "Plugs, pulls, breaks and replaces emulated AMD GPUs in a guest, and judges the driver.");
    app.require_subcommand(1);
    app.footer(exit_text());
    app.set_version_flag("--version", hotplug::version_text());

    hotplug::ListOptions list;
    CLI::App* list_app = app.add_subcommand("list", "lists rows, their tags and what they do");
    list_app->add_option("--scenarios", list.scenarios, "folder of scenario files");
    list_app->add_option("--tags", list.tags, "only these tags or scenarios")
        ->delimiter(',')
        ->type_name(hotplug::row_type);
    auto* as_json = list_app->add_flag("--json", list.json, "print a JSON list, for programs");
    list_app
        ->add_flag("--words", list.words,
                   "print the names of rows, scenarios and tags, for completion")
        ->excludes(as_json);

    CLI::App* schema_app =
        app.add_subcommand("schema", "prints the JSON Schema of scenario files, for editors");

    hotplug::RunOptions run;
    CLI::App* run_app = app.add_subcommand("run", "runs rows and writes the reports");
    run.add_to(*run_app);

    hotplug::ShellOptions shell;
    CLI::App* shell_app = app.add_subcommand("shell",
                                             "opens the guest's console, or runs one command, or a "
                                             "script on standard input, in the guest");
    shell.machine.add_to(*shell_app);
    shell_app->add_option("--results", shell.results, "where logs go")->capture_default_str();
    shell_app->add_option("-c,--command", shell.command, "run this in the guest and exit");

    hotplug::SelftestOptions selftest;
    CLI::App* selftest_app =
        app.add_subcommand("selftest",
                           "proves that each detector of a debug kernel fires, or that "
                           "each check of the harness can fail");
    selftest.machine.add_to(*selftest_app);
    selftest_app->add_option("--results", selftest.results, "where logs go")->capture_default_str();
    auto* mutations = selftest_app->add_flag(
        "--mutations", selftest.mutations,
        "run the rows with a seeded fault; exactly the intended check of each must fail "
        "(checks.md; all of them on a fast kernel, mutations-short on any)");
    selftest_app->add_option("rows", selftest.rows, "rows, scenarios or tags of the mutations")
        ->needs(mutations)
        ->capture_default_str();
    selftest_app->add_option("--guests", selftest.guests, "guests that run rows at once")
        ->needs(mutations)
        ->check(CLI::Range(1, 64))
        ->capture_default_str();

    hotplug::BenchOptions bench;
    CLI::App* bench_app = app.add_subcommand("bench", "measures figures, each next to its control");
    bench.machine.add_to(*bench_app);
    bench_app
        ->add_option("what", bench.what,
                     "all; removal: with one KFD process and with fifty; submission: guest "
                     "instructions of a submission, on one kernel or two; scale: many GPUs in a "
                     "guest, many guests at once, and what an emulator costs the host")
        ->check(CLI::IsMember({"all", "removal", "submission", "scale"}))
        ->capture_default_str();
    bench_app->add_option("--results", bench.results, "where bench.json and logs go")
        ->capture_default_str();
    bench_app->add_option("--against", bench.against, "submission: the kernel to compare with");
    bench_app
        ->add_option("--boots", bench.submission.boots,
                     "submission: boots of each kernel, alternating")
        ->check(CLI::Range(1, 100))
        ->capture_default_str();
    bench_app->add_option("--rounds", bench.submission.rounds, "submission: rounds in a boot")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    bench_app->add_option("--count", bench.submission.count, "submission: submissions in a round")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
    bench_app
        ->add_option("--limit", bench.submission.limit_percent,
                     "submission: percent by which two kernels may differ")
        ->check(CLI::Range(0.0, 100.0))
        ->capture_default_str();

    bench_app->add_option("--vms", bench.scale.vms, "scale: guests at once")
        ->check(CLI::Range(0, 64))
        ->capture_default_str();
    bench_app
        ->add_option("--gpus-per-vm", bench.scale.gpus_per_vm,
                     "scale: GPUs in each of these guests")
        ->check(CLI::Range(1u, hotplug::GpuSlot::max_slots))
        ->capture_default_str();
    bench_app
        ->add_option("--vram-mib", bench.scale.vram_mib,
                     "scale: VRAM of the GPUs in these guests, and of the lone emulator")
        ->check(CLI::Range(1024, 1 << 20))
        ->capture_default_str();
    bench_app
        ->add_option("--memory-limit", bench.scale.memory_limit_mib,
                     "scale: MiB that an emulator may keep resident")
        ->check(CLI::Range(1, 1 << 20))
        ->capture_default_str();
    bench_app
        ->add_option("--idle", bench.scale.idle_s,
                     "scale: seconds over which idle CPU time is taken")
        ->check(CLI::Range(1, 3600))
        ->capture_default_str();

    hotplug::SweepOptions sweep;
    CLI::App* sweep_app = app.add_subcommand(
        "sweep",
        "removes the GPU at one access after another of what the driver does, judges each, and "
        "groups the failures; continues an interrupted sweep in the same results folder");
    sweep.machine.add_to(*sweep_app);
    sweep_app->get_option("--kernel")->required(false);
    sweep_app->add_option("phases", sweep.phases,
                          "phases to run (default: all); an unknown name lists them");
    sweep_app->add_option("--scenarios", sweep.scenarios, "folder of scenario files");
    sweep_app->add_option("--results", sweep.results, "where sweep.jsonl, reports and logs go")
        ->capture_default_str();
    auto* points = sweep_app
                       ->add_option("--points", sweep.points,
                                    "points of each phase, spread evenly over its accesses and "
                                    "drawn by the seed")
                       ->check(CLI::Range(1, 1'000'000))
                       ->capture_default_str();
    sweep_app->add_flag("--all", sweep.all, "try every access of each phase")->excludes(points);
    sweep_app->add_option("--seed", sweep.seed, "draws points and their order")
        ->capture_default_str();
    sweep_app
        ->add_option("--shard", sweep.shard, "run one part of the points; 2/3: the second of three")
        ->capture_default_str();
    sweep_app
        ->add_option("--at", sweep.at,
                     "try these accesses instead, with a trace; 0: when the phase has ended")
        ->delimiter(',')
        ->allow_extra_args(false);
    sweep_app
        ->add_option("--minutes", sweep.minutes,
                     "begin no point after this time; the next call continues")
        ->check(CLI::Range(1, 1'000'000));
    sweep_app->add_option("--merge", sweep.merge,
                          "no sweep: merge sweep.jsonl of these folders into --results");

    hotplug::HostileOptions hostile;
    CLI::App* hostile_app = app.add_subcommand(
        "hostile",
        "lets the GPU lie to its driver, cycle after cycle, most often about what the driver was "
        "not lied to about yet; judges each and groups the failures; continues an interrupted "
        "series in the same results folder");
    hostile.machine.add_to(*hostile_app);
    hostile_app->get_option("--kernel")->required(false);
    hostile_app
        ->add_option("rows", hostile.rows,
                     "rows, scenarios or tags in which a device lies (default: all)")
        ->type_name(hotplug::row_type);
    hostile_app->add_option("--scenarios", hostile.scenarios, "folder of scenario files");
    hostile_app
        ->add_option("--results", hostile.results, "where hostile.jsonl, reports and logs go")
        ->capture_default_str();
    hostile_app->add_option("--cycles", hostile.cycles, "devices that lie, of all shards together")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    hostile_app->add_option("--seed", hostile.seed, "draws the surfaces and the lies")
        ->capture_default_str();
    hostile_app
        ->add_option("--shard", hostile.shard,
                     "run one part of the cycles; 2/3: the second of three")
        ->capture_default_str();
    hostile_app
        ->add_option("--minutes", hostile.minutes,
                     "begin no cycle after this time; the next call continues")
        ->check(CLI::Range(1, 1'000'000));
    hostile_app->add_option("--merge", hostile.merge,
                            "lets nobody lie: merge hostile.jsonl of these folders into --results");

    hotplug::CompareOptions compare;
    CLI::App* compare_app = app.add_subcommand(
        "compare", "shows two runs of the same rows side by side; fails if the second one fails");
    compare_app->add_option("runs", compare.runs, "results.json of each run, or its folder")
        ->expected(2);
    compare_app->add_option("--names", compare.names, "names of the two kernels")
        ->expected(2)
        ->capture_default_str();
    compare_app->add_option("--from", compare.from, "compare.json, instead of two runs");
    compare_app->add_option("--results", compare.results,
                            "where compare.json, compare.md and compare.html go");
    compare_app->add_option("--readme", compare.readme,
                            "put the table between the markers of this file");
    compare_app->add_option("--svg", compare.svg, "draw the comparison into this file");

    hotplug::MatrixOptions matrix;
    CLI::App* matrix_app = app.add_subcommand(
        "matrix",
        "runs rows on several kernels and shows when each defect came or went; fails if a "
        "kernel could not be judged");
    matrix.run.machine.add_to(*matrix_app);
    matrix_app->remove_option(matrix_app->get_option("--kernel"));
    matrix_app->add_option("rows", matrix.run.rows, "rows, scenarios or tags")
        ->required()
        ->type_name(hotplug::row_type);
    matrix_app
        ->add_option("--kernels", matrix.kernels,
                     "oldest first, each as --kernel of `hpctl run` has it: debian:6.12,debian:7.3")
        ->required()
        ->delimiter(',')
        ->allow_extra_args(false);
    matrix_app->add_option("--scenarios", matrix.run.scenarios, "folder of scenario files");
    matrix.run.add_watch_to(*matrix_app);
    matrix_app->add_flag("--resume", matrix.resume,
                         "take kernels whose rows have all run from the results folder");
    matrix.run.results = "results/matrix";
    matrix_app
        ->add_option("--results", matrix.run.results,
                     "where matrix.html, .md, .json and .svg and a folder for each kernel go")
        ->capture_default_str();

    hotplug::ReplayOptions replay;
    CLI::App* replay_app = app.add_subcommand("replay", "reruns the row of a failure bundle");
    replay_app->add_option("bundle", replay.bundle, "folder below results/failed")->required();
    replay_app->add_option("--results", replay.results, "where reports go")->capture_default_str();

    hotplug::BisectOptions bisect;
    CLI::App* bisect_app = app.add_subcommand(
        "bisect", "for `git bisect run`: builds a kernel tree, runs rows, tells good from bad");
    bisect_app->add_option("rows", bisect.rows, "rows, scenarios or tags")
        ->required()
        ->type_name(hotplug::row_type);
    bisect_app->add_option("--repeat", bisect.repeat, "tries of each row; bad if one of them fails")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    bisect_app->add_option("--flavour", bisect.flavour, "kernel configuration")
        ->check(CLI::IsMember({"fast", "debug"}))
        ->capture_default_str();

    CLI::App* completion_app =
        app.add_subcommand("completion", "prints completion for bash: source <(hpctl completion)");
    CLI::App* man_app = app.add_subcommand("man", "prints the man page: hpctl man | man -l -");

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) {  // --help, --version
            return app.exit(error);
        }
        fmt::print(stderr, "hpctl: {}; see hpctl --help\n", error.what());
        // git would take another status for a bad commit.
        return bisect_app->parsed() ? hotplug::exit_no_bisection : hotplug::exit_error;
    }
    if (list_app->parsed() || schema_app->parsed() || completion_app->parsed() ||
        man_app->parsed()) {
        signal(SIGPIPE, SIG_DFL);  // `hpctl list | head` has seen enough
    }
    if (completion_app->parsed()) {
        fmt::print("{}", hotplug::format_completion(app));
        return hotplug::exit_pass;
    }
    if (man_app->parsed()) {
        fmt::print("{}", hotplug::format_man_page(app, hotplug::commit_text()));
        return hotplug::exit_pass;
    }
    if (bisect_app->parsed()) {
        const int status = report(hotplug::bisect_command(bisect));
        return status == hotplug::exit_error ? hotplug::exit_no_bisection : status;
    }
    if (schema_app->parsed()) {
        return report(hotplug::schema_command());
    }
    if (list_app->parsed()) {
        return report(hotplug::list_command(list));
    }
    if (run_app->parsed()) {
        return report(hotplug::run_command(run));
    }
    if (shell_app->parsed()) {
        return report(hotplug::shell_command(shell));
    }
    if (selftest_app->parsed()) {
        return report(hotplug::selftest_command(selftest));
    }
    if (bench_app->parsed()) {
        if (bench.what == "scale" && bench_app->count("--gpus") == 0) {
            bench.machine.gpus = hotplug::GpuSlot::max_slots;
        }
        return report(hotplug::bench_command(bench));
    }
    if (sweep_app->parsed()) {
        return report(hotplug::sweep_command(sweep));
    }
    if (hostile_app->parsed()) {
        return report(hotplug::hostile_command(hostile));
    }
    if (compare_app->parsed()) {
        return report(hotplug::compare_command(compare));
    }
    if (matrix_app->parsed()) {
        return report(hotplug::matrix_command(matrix));
    }
    return report(hotplug::replay_command(replay));
}

}  // namespace

int main(int argc, char** argv) {
    handle_signals();
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "hpctl: {}\n", error.what());
        return hotplug::exit_error;
    }
}
