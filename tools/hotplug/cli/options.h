// SPDX-License-Identifier: GPL-2.0
// Purpose: hpctl's options, and the machine they stand for.
// Thread: one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hotplug/machine/machine.h"
#include "lib/result.h"

// Its header is most of what a file that includes it costs the compiler.
namespace CLI {
class App;
}

namespace hotplug {

/// Exit status of every command; exit_table() says what each means.
enum CommandStatus : int {
    exit_pass = 0,
    exit_fail = 1,
    exit_error = 2,
    exit_out_of_time = 124,
    exit_no_bisection = 128,
    exit_interrupted = 130,
};

struct ExitMeaning {
    CommandStatus status;
    const char* meaning;
};

/// All of them, for --help and the man page. Documentation/harness/ci.md shows the same table.
std::span<const ExitMeaning> exit_table();

struct EnvironmentMeaning {
    const char* name;
    const char* meaning;
};

/// The variables that hpctl reads, for the man page.
std::span<const EnvironmentMeaning> environment_table();

/// Which guest, QEMU and emulator.
struct MachineOptions {
    std::string kernel;
    std::string initrd;
    std::string toolroot;
    std::string emulator;
    std::string profile = "mi300x";
    std::string accelerator = "auto";
    std::string append;
    unsigned gpus = 2;
    bool behind_switch = false;
    bool iommu = false;
    std::vector<std::string> opposites;
    unsigned memory_mib = 3072;
    unsigned cpus = 2;
    unsigned boot_timeout_s = 180;

    void add_to(CLI::App& app);
    /// The options as arguments, paths absolute: a run can be repeated from any folder.
    std::vector<std::string> arguments() const;
    /// Finds what is not named; makes the image when a kernel tree came without one, and fetches a
    /// QEMU when the host's is no good.
    hp::Result<MachineConfig> machine_config() const;
};

struct RunOptions {
    MachineOptions machine;
    std::vector<std::string> rows;
    std::vector<std::string> exclude;
    std::string scenarios;
    std::string expected;  ///< a file, or "none"
    std::string results = "results";
    uint64_t seed = 0;
    std::optional<unsigned> cycles;
    std::optional<unsigned> watch_s;  ///< none: what each row has
    unsigned repeat = 1;
    unsigned guests = 1;         ///< at once
    unsigned run_timeout_s = 0;  ///< 0: none
    std::string ktap;            ///< a file, or "-": standard output, as rows end
    std::string junit;           ///< a file
    std::string kcidb;           ///< a file
    std::string kcidb_origin = "hpctl";
    std::string kcidb_build;  ///< id of a build that KCIDB knows; empty: one is described
    std::string quarantine;   ///< a file
    std::string dump = "hang";
    unsigned keep_dumps = 3;
    bool dry_run = false;
    bool update_expected = false;
    bool only_failed = false;
    bool fail_on_skip = false;

    void add_to(CLI::App& app);
    /// The one of them that commands have which run rows on several kernels.
    void add_watch_to(CLI::App& app);
    /// The arguments of `hpctl run` that decide over what is run and how it is judged, but for the
    /// rows: a report has them, and replay takes them.
    std::vector<std::string> arguments() const;
};

/// Where the scenarios are: `named` when given, else Part::scenarios.
hp::Result<std::filesystem::path> scenario_folder(const std::string& named);

/// The folder scripts/, in which the script for guest images is.
hp::Result<std::filesystem::path> script_folder();

/// The bzImage of a built kernel tree, of Debian's package ("debian", "debian:6.12": fetched into
/// the cache when it is not there), or the file itself.
hp::Result<std::filesystem::path> find_kernel(const std::string& path);

}  // namespace hotplug
