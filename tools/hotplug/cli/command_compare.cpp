// SPDX-License-Identifier: GPL-2.0
// Purpose: `hpctl compare`: two runs beside each other, and their table into a text such as README.
// Thread: one.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "hotplug/cli/commands.h"
#include "hotplug/report/compare.h"
#include "hotplug/report/json_report.h"
#include "hotplug/report/page.h"
#include "hotplug/report/picture.h"
#include "hotplug/report/report_files.h"

namespace hotplug {

namespace {

namespace fs = std::filesystem;

hp::Result<void> update_text(const fs::path& file, const Comparison& comparison) {
    std::ifstream in(file);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in.is_open()) {
        return hp::fail(fmt::format("{}: cannot read", file.string()));
    }
    const auto updated = with_table(text, format_markdown(comparison));
    if (!updated) {
        return hp::fail(fmt::format("{}: {}", file.string(), updated.error().message));
    }
    return write_report(file, *updated);
}

hp::Result<std::array<LoadedRun, 2>> find_runs(const CompareOptions& options) {
    if (!options.from.empty()) {
        return load_comparison(options.from);
    }
    if (options.runs.size() != 2) {
        return hp::fail("name two runs to compare, or one comparison by --from");
    }
    return load_run(options.runs[0], options.names[0]).and_then([&](LoadedRun before) {
        return load_run(options.runs[1], options.names[1]).map([&](LoadedRun after) {
            return std::array{std::move(before), std::move(after)};
        });
    });
}

}  // namespace

hp::Result<CommandStatus> compare_command(const CompareOptions& options) {
    const auto runs = find_runs(options);
    if (!runs) {
        return tl::unexpected(runs.error());
    }
    const Comparison comparison = compare_runs((*runs)[0], (*runs)[1]);
    if (!options.results.empty()) {
        const fs::path folder = options.results;
        std::error_code error;
        fs::create_directories(folder, error);
        const std::pair<const char*, std::string> files[] = {
            {"compare.json", dump(to_json(comparison))},
            {"compare.md", format_markdown(comparison)},
            {"compare.html", format_page(*runs)},
        };
        for (const auto& [name, text] : files) {
            if (auto written = write_report(folder / name, text); !written) {
                return tl::unexpected(written.error());
            }
        }
    }
    if (!options.svg.empty()) {
        if (auto written = write_report(options.svg, format_picture(comparison)); !written) {
            return tl::unexpected(written.error());
        }
    }
    if (!options.readme.empty()) {
        if (auto updated = update_text(options.readme, comparison); !updated) {
            return tl::unexpected(updated.error());
        }
        return exit_pass;
    }
    fmt::print("{}", format_table(comparison));
    std::fflush(stdout);
    return comparison.good() ? exit_pass : exit_fail;
}

}  // namespace hotplug
