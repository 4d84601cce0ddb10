// SPDX-License-Identifier: GPL-2.0
// Purpose: `hpctl matrix`: the same rows on several kernels, one after the other, and their table.
// Thread: one.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "hotplug/cli/commands.h"
#include "hotplug/report/json_report.h"
#include "hotplug/report/matrix.h"
#include "hotplug/report/page.h"
#include "hotplug/report/picture.h"
#include "hotplug/report/report_files.h"

namespace hotplug {

namespace {

namespace fs = std::filesystem;

/// "debian:6.12" is 6.12 in the table; of a path the last part that tells builds apart.
std::string name_of(const std::string& kernel) {
    if (kernel.starts_with("debian")) {
        return kernel.size() > 7 ? kernel.substr(7) : kernel;
    }
    const fs::path path = fs::path(kernel).lexically_normal();
    const fs::path last = path.has_filename() ? path.filename() : path.parent_path().filename();
    return last == "build" ? path.parent_path().filename() : last;
}

/// Runs the rows on one kernel. Interrupted: none.
std::optional<LoadedRun> run_on(const RunOptions& run, const std::string& name) {
    fmt::print("=== {}\n", name);
    std::fflush(stdout);
    const auto status = run_command(run);
    if (status && *status == exit_interrupted) {
        return std::nullopt;
    }
    auto loaded = status ? load_run(run.results, name)
                         : hp::Result<LoadedRun>(tl::unexpected(status.error()));
    return loaded ? std::move(*loaded) : no_run(name, loaded.error().message);
}

}  // namespace

hp::Result<CommandStatus> matrix_command(const MatrixOptions& options) {
    std::vector<std::string> names;
    for (const std::string& kernel : options.kernels) {
        names.push_back(name_of(kernel));
        if (std::count(names.begin(), names.end(), names.back()) > 1) {
            return hp::fail(
                fmt::format("--kernels: two of them would be called '{}'", names.back()));
        }
    }
    const fs::path results = fs::absolute(options.run.results);
    Matrix matrix;
    std::vector<LoadedRun> runs;
    bool complete = true;
    for (size_t at = 0; at < names.size(); ++at) {
        RunOptions run = options.run;
        run.machine.kernel = options.kernels[at];
        run.results = (results / names[at]).string();
        run.expected = "none";  // a check passed or it did not
        run.dump = "never";     // many rows hang on some kernel, and a dump of each takes minutes
        std::optional<LoadedRun> ran;
        if (options.resume) {
            if (auto earlier = load_run(run.results, names[at])) {
                ran = std::move(*earlier);
            }
        }
        if (!ran) {
            ran = run_on(run, names[at]);
        }
        if (!ran) {
            return exit_interrupted;
        }
        complete = complete && !ran->rows.empty();
        runs.push_back(std::move(*ran));
        matrix.add(runs.back());
        // After each kernel: there may be hours between them.
        const std::pair<const char*, std::string> files[] = {
            {"matrix.json", dump(to_json(matrix))},
            {"matrix.md", format_markdown(matrix)},
            {"matrix.html", format_page(runs)},
            {"matrix.svg", format_picture(matrix)},
        };
        std::error_code error;
        fs::create_directories(results, error);
        for (const auto& [name, text] : files) {
            if (auto written = write_report(results / name, text); !written) {
                return tl::unexpected(written.error());
            }
        }
    }
    if (matrix.rows.empty() && !matrix.kernels.back().flaws.empty()) {
        return hp::fail(fmt::format("nothing ran on any kernel; on {}: {}", names.back(),
                                    matrix.kernels.back().flaws.back()));
    }
    fmt::print("\nTable: {}\n\n{}", (results / "matrix.html").string(), format_table(matrix));
    std::fflush(stdout);
    return complete ? exit_pass : exit_fail;
}

}  // namespace hotplug
