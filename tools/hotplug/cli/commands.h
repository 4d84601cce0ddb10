// SPDX-License-Identifier: GPL-2.0
// Purpose: hpctl's commands. Each returns an exit status; a failure is one line for standard error.
// Thread: one.
#pragma once

#include <string>
#include <vector>

#include "hotplug/bench/scale_bench.h"
#include "hotplug/bench/submission_bench.h"
#include "hotplug/cli/options.h"
#include "lib/result.h"

namespace hotplug {

struct ListOptions {
    std::string scenarios;
    std::vector<std::string> tags;
    bool json = false;
    bool words = false;  ///< what `hpctl run` takes, for completion
};

struct BisectOptions {
    std::vector<std::string> rows;
    unsigned repeat = 1;
    std::string flavour = "fast";
};

struct ShellOptions {
    MachineOptions machine;
    std::string results = "results";
    std::string command;
};

struct SelftestOptions {
    MachineOptions machine;
    std::string results = "results";
    bool mutations = false;  ///< the checks instead of the kernel's detectors
    std::vector<std::string> rows = {"mutations"};  ///< of these: rows, scenarios or tags
    unsigned guests = 1;                            ///< that run them at once
};

struct BenchOptions {
    MachineOptions machine;
    std::string what = "all";  ///< or "removal", "submission", "scale", to which the rest belongs
    std::string results = "results";
    std::string against;  ///< submission: the kernel to compare with
    SubmissionBench submission;
    ScaleBench scale;
};

struct SweepOptions {
    MachineOptions machine;
    std::vector<std::string> phases;  ///< empty: all
    std::string scenarios;
    std::string results = "results/sweep";
    uint64_t points = 100;
    bool all = false;
    uint64_t seed = 1;
    std::string shard = "1/1";
    std::vector<uint64_t> at;  ///< not empty: these accesses instead
    unsigned minutes = 0;      ///< 0: until it is done
    std::vector<std::string> merge;
};

struct HostileOptions {
    MachineOptions machine;
    std::vector<std::string> rows;  ///< rows, scenarios or tags; empty: all in which a device lies
    std::string scenarios;
    std::string results = "results/hostile";
    uint64_t cycles = 300;
    uint64_t seed = 1;
    std::string shard = "1/1";
    unsigned minutes = 0;  ///< 0: until it is done
    std::vector<std::string> merge;
};

struct CompareOptions {
    std::vector<std::string> runs;  ///< two results.json, or their folders
    std::vector<std::string> names = {"stock", "series"};
    std::string from;     ///< a comparison made before, instead of runs
    std::string results;  ///< empty: nothing is written
    std::string readme;   ///< a text whose table is to be that of the comparison
    std::string svg;      ///< a picture of it
};

struct MatrixOptions {
    RunOptions run;  ///< its kernel and list of known failures are not asked for
    std::vector<std::string> kernels;
    bool resume = false;  ///< a kernel whose rows have run already is not run again
};

struct ReplayOptions {
    std::string bundle;
    std::string results = "results-replay";
};

hp::Result<CommandStatus> list_command(const ListOptions& options);
hp::Result<CommandStatus> schema_command();
hp::Result<CommandStatus> run_command(RunOptions options);
hp::Result<CommandStatus> shell_command(const ShellOptions& options);
hp::Result<CommandStatus> selftest_command(const SelftestOptions& options);
hp::Result<CommandStatus> bench_command(const BenchOptions& options);
hp::Result<CommandStatus> sweep_command(const SweepOptions& options);
hp::Result<CommandStatus> hostile_command(const HostileOptions& options);
hp::Result<CommandStatus> compare_command(const CompareOptions& options);
/// Fails when a kernel could not be judged; a row that failed is what the table is for.
hp::Result<CommandStatus> matrix_command(const MatrixOptions& options);
hp::Result<CommandStatus> bisect_command(const BisectOptions& options);
hp::Result<CommandStatus> replay_command(const ReplayOptions& options);

}  // namespace hotplug
