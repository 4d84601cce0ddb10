// SPDX-License-Identifier: GPL-2.0
// Purpose: see quarantine.h.
// Thread: values.
#include "hotplug/judge/quarantine.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "lib/json_text.h"

namespace hotplug {

namespace {

using json = nlohmann::ordered_json;

std::string day_text(std::chrono::year_month_day day) {
    return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()),
                       static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
}

/// Empty: the entry is well-formed.
std::string fault_of_exception(const json& entry) {
    if (!entry.is_object()) {
        return "expected an object of row, reason and until";
    }
    for (const char* name : {"row", "reason", "until"}) {
        if (!entry.contains(name)) {
            return fmt::format("member '{}' is missing", name);
        }
    }
    for (const auto& [name, value] : entry.items()) {
        if (name != "row" && name != "reason" && name != "until") {
            return fmt::format("member '{}' is not allowed; allowed: row, reason, until", name);
        }
        if (!value.is_string() || value.get<std::string>().empty()) {
            return fmt::format("member '{}' must be a text that is not empty", name);
        }
    }
    const auto until = entry["until"].get<std::string>();
    return parse_day(until) ? "" : fmt::format("until: '{}' is no day like 2026-12-31", until);
}

}  // namespace

std::optional<std::chrono::year_month_day> parse_day(std::string_view text) {
    if (text.size() != 10 || text[4] != '-' || text[7] != '-') {
        return std::nullopt;
    }
    unsigned parts[3] = {};
    const std::string_view fields[] = {text.substr(0, 4), text.substr(5, 2), text.substr(8, 2)};
    for (size_t i = 0; i < 3; ++i) {
        const char* const end = fields[i].data() + fields[i].size();
        const auto [rest, fault] = std::from_chars(fields[i].data(), end, parts[i]);
        if (fault != std::errc() || rest != end) {
            return std::nullopt;
        }
    }
    const std::chrono::year_month_day day{std::chrono::year(static_cast<int>(parts[0])),
                                          std::chrono::month(parts[1]), std::chrono::day(parts[2])};
    return day.ok() ? std::optional(day) : std::nullopt;
}

Quarantine::Quarantine(const std::vector<QuarantineEntry>& entries,
                       const ScenarioCatalogue& catalogue, std::chrono::sys_days today) {
    for (const QuarantineEntry& entry : entries) {
        const std::string named[] = {entry.rows};
        const auto rows = catalogue.select(named, 1);
        if (!rows) {
            stale_.push_back(rows.error().message);
            continue;
        }
        const std::string day = day_text(entry.until);
        if (std::chrono::sys_days(entry.until) < today) {
            stale_.push_back(
                fmt::format("{}: its quarantine ended on {}: {}", entry.rows, day, entry.reason));
            continue;
        }
        for (const Row& row : *rows) {
            excuses_.emplace(row.expected_key(), fmt::format("until {}: {}", day, entry.reason));
        }
    }
}

hp::Result<std::vector<QuarantineEntry>> Quarantine::parse(std::string_view text,
                                                           const std::string& file) {
    const auto list = hp::parse_json_text(text, file);
    if (!list) {
        return tl::unexpected(list.error());
    }
    if (!list->is_array()) {
        return hp::fail(fmt::format("{}: expected a JSON list of rows in quarantine", file));
    }
    std::vector<QuarantineEntry> entries;
    for (size_t i = 0; i < list->size(); ++i) {
        const json& entry = (*list)[i];
        if (const std::string fault = fault_of_exception(entry); !fault.empty()) {
            return hp::fail(fmt::format("{}: /{}: {}", file, i, fault));
        }
        entries.push_back({entry["row"].get<std::string>(), entry["reason"].get<std::string>(),
                           *parse_day(entry["until"].get<std::string>())});
    }
    return entries;
}

hp::Result<std::vector<QuarantineEntry>> Quarantine::load(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) {
        return hp::fail(
            fmt::format("{}: cannot read this list of rows in quarantine", file.string()));
    }
    return parse(text.str(), file.string());
}

const std::string* Quarantine::find(const std::string& key) const {
    const auto found = excuses_.find(key);
    return found == excuses_.end() ? nullptr : &found->second;
}

void Quarantine::excuse(RowResult& row) const {
    const std::string* excuse = find(row.expected_key);
    if (excuse != nullptr && is_red(row.outcome)) {
        row.outcome = Outcome::quarantined;
        row.quarantine = *excuse;
    }
}

}  // namespace hotplug
