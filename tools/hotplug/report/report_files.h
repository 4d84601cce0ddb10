// SPDX-License-Identifier: GPL-2.0
// Purpose: the reports of a run as files, which say at each moment what is true: those of an
// earlier run go before the first row, and after each row there are new ones, which call themselves
// unfinished until the run has ended. A run that was killed leaves these. Thread: one at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "hotplug/base/deadline.h"
#include "hotplug/judge/verdict.h"
#include "lib/result.h"

namespace hotplug {

/// Whoever reads the file meanwhile, or after a kill, finds the old text or the new one.
hp::Result<void> write_report(const std::filesystem::path& file, const std::string& text);

struct ReportFile {
    std::filesystem::path file;
    std::function<std::string(const RunReport&)> format;
};

class ReportFiles {
public:
    /// Into a folder that is there: results.json, results.ktap, junit.xml and index.html. `more`
    /// are beside these, wherever their paths say.
    explicit ReportFiles(const std::filesystem::path& folder, std::vector<ReportFile> more = {});

    /// What an earlier run left of them.
    hp::Result<void> remove() const;
    /// What there is of a run that goes on, `planned` rows in all. Each file changes at once. Long
    /// runs are spared: writing takes a twentieth of the time at most, so that a few rows may be
    /// missing.
    hp::Result<void> write_unfinished(const RunReport& report, size_t planned);
    hp::Result<void> write(const RunReport& report) const;

    std::filesystem::path page() const { return page_; }

private:
    std::filesystem::path page_;
    std::vector<ReportFile> files_;
    Deadline::Clock::time_point due_{};
};

}  // namespace hotplug
