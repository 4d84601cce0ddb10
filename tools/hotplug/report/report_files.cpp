// SPDX-License-Identifier: GPL-2.0
// Purpose: see report_files.h.
// Thread: one at a time.
#include "hotplug/report/report_files.h"

#include <fmt/format.h>

#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "hotplug/report/html.h"
#include "hotplug/report/json_report.h"
#include "hotplug/report/junit.h"
#include "hotplug/report/ktap.h"

namespace hotplug {

namespace {

namespace fs = std::filesystem;

constexpr const char* names[] = {"results.json", "results.ktap", "junit.xml", "index.html"};
constexpr int writing_share = 20;

/// Whoever reads the file meanwhile, or after a kill, finds the old text or the new one.
hp::Result<void> replace(const fs::path& file, const std::string& text) {
    const fs::path draft = file.string() + ".new";
    std::error_code error;
    {
        std::ofstream out(draft);
        out << text;
        if (!out.flush()) {
            fs::remove(draft, error);
            return hp::fail(fmt::format("{}: cannot write", file.string()));
        }
    }
    fs::rename(draft, file, error);
    if (error) {
        return hp::fail(fmt::format("{}: cannot write: {}", file.string(), error.message()));
    }
    return {};
}

}  // namespace

hp::Result<void> ReportFiles::remove() const {
    for (const char* name : names) {
        std::error_code error;
        fs::remove(folder_ / name, error);
        if (error) {
            return hp::fail(fmt::format("{}: cannot remove what an earlier run left: {}",
                                        (folder_ / name).string(), error.message()));
        }
    }
    return {};
}

hp::Result<void> ReportFiles::write_unfinished(const RunReport& report, size_t planned) {
    const auto start = Deadline::Clock::now();
    if (start < due_) {
        return {};
    }
    RunReport unfinished = report;
    unfinished.integrity.add(
        IntegrityKind::unfinished,
        fmt::format("{} of {} rows are here: the run goes on, or it was killed", report.rows.size(),
                    planned));
    auto written = write(unfinished);
    const auto end = Deadline::Clock::now();
    due_ = end + writing_share * (end - start);
    return written;
}

hp::Result<void> ReportFiles::write(const RunReport& report) const {
    const std::string texts[] = {dump(to_json(report)), format_ktap(report), format_junit(report),
                                 format_html(report)};
    for (size_t i = 0; i < std::size(names); ++i) {
        if (auto written = replace(folder_ / names[i], texts[i]); !written) {
            return written;
        }
    }
    return {};
}

}  // namespace hotplug
