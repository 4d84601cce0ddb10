// SPDX-License-Identifier: GPL-2.0
// Purpose: see report_files.h.
// Thread: one at a time.
#include "hotplug/report/report_files.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

#include "hotplug/report/json_report.h"
#include "hotplug/report/junit.h"
#include "hotplug/report/ktap.h"
#include "hotplug/report/page.h"

namespace hotplug {

namespace {

namespace fs = std::filesystem;

constexpr int writing_share = 20;

}  // namespace

hp::Result<void> write_report(const fs::path& file, const std::string& text) {
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

ReportFiles::ReportFiles(const fs::path& folder, std::vector<ReportFile> more)
    : page_(folder / "index.html"),
      files_{
          {folder / "results.json", [](const RunReport& report) { return dump(to_json(report)); }},
          {folder / "results.ktap", format_ktap},
          {folder / "junit.xml", format_junit},
          {page_, [](const RunReport& report) { return format_page(report); }}} {
    files_.insert(files_.end(), std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
}

hp::Result<void> ReportFiles::remove() const {
    for (const ReportFile& report : files_) {
        std::error_code error;
        fs::remove(report.file, error);
        if (error) {
            return hp::fail(fmt::format("{}: cannot remove what an earlier run left: {}",
                                        report.file.string(), error.message()));
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
    for (const ReportFile& one : files_) {
        if (auto written = write_report(one.file, one.format(report)); !written) {
            return written;
        }
    }
    return {};
}

}  // namespace hotplug
