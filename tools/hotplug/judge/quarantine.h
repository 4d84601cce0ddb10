// SPDX-License-Identifier: GPL-2.0
// Purpose: rows whose failures do not fail a run until a day: they are run and reported like all
// others. Thread: values.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hotplug/judge/verdict.h"
#include "hotplug/scenario/catalogue.h"
#include "lib/result.h"

namespace hotplug {

struct QuarantineEntry {
    std::string rows;  ///< a row, scenario or tag
    std::string reason;
    std::chrono::year_month_day until;  ///< the last day
};

/// "2026-12-31"; nothing: that is no day.
std::optional<std::chrono::year_month_day> parse_day(std::string_view text);

class Quarantine {
public:
    Quarantine() = default;
    /// `today`: an entry whose last day is before it excuses nothing.
    Quarantine(const std::vector<QuarantineEntry>& entries, const ScenarioCatalogue& catalogue,
               std::chrono::sys_days today);

    /// A list of objects of `row`, `reason` and `until`; errors name the place.
    static hp::Result<std::vector<QuarantineEntry>> parse(std::string_view text,
                                                          const std::string& file);
    static hp::Result<std::vector<QuarantineEntry>> load(const std::filesystem::path& file);

    /// "until 2026-12-31: reason"; null: the row is not in quarantine. `key`: Row::expected_key().
    const std::string* find(const std::string& key) const;
    /// Makes a judged row that failed Outcome::quarantined if it is in quarantine.
    void excuse(RowResult& row) const;
    /// A line for each entry that excuses nothing: it is over, or names nothing.
    const std::vector<std::string>& stale() const { return stale_; }

private:
    std::map<std::string, std::string> excuses_;  ///< by expected key
    std::vector<std::string> stale_;
};

}  // namespace hotplug
