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

namespace hotplug {

namespace {

namespace fs = std::filesystem;

hp::Result<void> write(const fs::path& file, const std::string& text) {
    std::ofstream out(file);
    out << text;
    if (!out.flush()) {
        return hp::fail(fmt::format("{}: cannot write", file.string()));
    }
    return {};
}

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
    return write(file, *updated);
}

hp::Result<Comparison> find_comparison(const CompareOptions& options) {
    if (!options.from.empty()) {
        return load_comparison(options.from);
    }
    if (options.runs.size() != 2) {
        return hp::fail("name two runs to compare, or one comparison by --from");
    }
    return compare_runs(options.runs[0], options.names[0], options.runs[1], options.names[1]);
}

}  // namespace

hp::Result<CommandStatus> compare_command(const CompareOptions& options) {
    const auto comparison = find_comparison(options);
    if (!comparison) {
        return tl::unexpected(comparison.error());
    }
    if (!options.results.empty()) {
        const fs::path folder = options.results;
        std::error_code error;
        fs::create_directories(folder, error);
        const std::pair<const char*, std::string> files[] = {
            {"compare.json", dump(to_json(*comparison))},
            {"compare.md", format_markdown(*comparison)},
            {"compare.html", format_html(*comparison)},
        };
        for (const auto& [name, text] : files) {
            if (auto written = write(folder / name, text); !written) {
                return tl::unexpected(written.error());
            }
        }
    }
    if (!options.readme.empty()) {
        if (auto updated = update_text(options.readme, *comparison); !updated) {
            return tl::unexpected(updated.error());
        }
        return exit_pass;
    }
    fmt::print("{}", format_table(*comparison));
    std::fflush(stdout);
    return comparison->good() ? exit_pass : exit_fail;
}

}  // namespace hotplug
