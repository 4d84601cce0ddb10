// SPDX-License-Identifier: GPL-2.0
// Purpose: see expected.h.
// Thread: values.
#include "hotplug/judge/expected.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "hotplug/judge/verdict.h"

namespace hotplug {

namespace {

using json = nlohmann::ordered_json;

/// What an entry of a new list looks for: the titles of the kernel's complaints, which are stable.
/// Other evidence holds times.
std::vector<std::string> matching_of(const RowResult& row, const CheckResult& check) {
    std::vector<std::string> titles;
    if (check.check == Check::log_clean) {
        for (const Complaint& complaint : row.kernel_log.complaints) {
            titles.push_back(complaint.title);
        }
    }
    return titles;
}

void merge(std::vector<std::string>& into, const std::vector<std::string>& more) {
    for (const std::string& text : more) {
        if (std::find(into.begin(), into.end(), text) == into.end()) {
            into.push_back(text);
        }
    }
}

std::string refusal(const std::string& file, size_t index, std::string_view why) {
    return fmt::format("{}: /{}: {}", file, index, why);
}

/// Empty: the entry is well-formed.
std::string fault_of(const json& entry) {
    if (!entry.is_object()) {
        return "expected an object";
    }
    for (const auto& [name, value] : entry.items()) {
        const bool text = name == "row" || name == "check" || name == "reason";
        const bool list = name == "matching" && value.is_array() &&
                          std::all_of(value.begin(), value.end(),
                                      [](const json& element) { return element.is_string(); });
        const bool flag = name == "sometimes" && value.is_boolean();
        if (!(text && value.is_string()) && !list && !flag) {
            return fmt::format(
                "member '{}' is not allowed or of the wrong type; allowed: row, check, reason, "
                "sometimes, matching",
                name);
        }
    }
    for (const char* needed : {"row", "check", "reason"}) {
        if (!entry.contains(needed)) {
            return fmt::format("member '{}' is missing", needed);
        }
    }
    if (!parse_check(entry["check"].get<std::string>())) {
        return fmt::format("no such check '{}'", entry["check"].get<std::string>());
    }
    return {};
}

}  // namespace

bool ExpectedFailure::covers(const std::vector<std::string>& evidence) const {
    return matching.empty() ||
           std::all_of(evidence.begin(), evidence.end(), [&](const std::string& line) {
               return std::any_of(matching.begin(), matching.end(), [&](const std::string& wanted) {
                   return line.find(wanted) != std::string::npos;
               });
           });
}

hp::Result<ExpectedFailures> ExpectedFailures::parse(std::string_view text,
                                                     const std::string& file) {
    const json list = json::parse(text, nullptr, false, /*ignore_comments=*/true);
    if (list.is_discarded() || !list.is_array()) {
        return hp::fail(fmt::format("{}: expected a JSON list of known failures", file));
    }
    std::vector<ExpectedFailure> failures;
    for (size_t i = 0; i < list.size(); ++i) {
        if (const std::string fault = fault_of(list[i]); !fault.empty()) {
            return hp::fail(refusal(file, i, fault));
        }
        failures.push_back({list[i]["row"].get<std::string>(),
                            *parse_check(list[i]["check"].get<std::string>()),
                            list[i]["reason"].get<std::string>(), list[i].value("sometimes", false),
                            list[i].value("matching", std::vector<std::string>{})});
    }
    return ExpectedFailures(std::move(failures));
}

hp::Result<ExpectedFailures> ExpectedFailures::load(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) {
        return hp::fail(fmt::format("{}: cannot read this list of known failures", file.string()));
    }
    return parse(text.str(), file.string());
}

std::string ExpectedFailures::to_json() const {
    json list = json::array();
    for (const ExpectedFailure& failure : failures_) {
        json entry = {{"row", failure.row},
                      {"check", std::string(to_string(failure.check))},
                      {"reason", failure.reason}};
        if (failure.sometimes) {
            entry["sometimes"] = true;
        }
        if (!failure.matching.empty()) {
            entry["matching"] = failure.matching;
        }
        list.push_back(std::move(entry));
    }
    return list.dump(4, ' ', false, json::error_handler_t::replace) + "\n";
}

hp::Result<void> ExpectedFailures::save(const std::filesystem::path& file) const {
    std::ofstream out(file);
    out << to_json();
    if (!out.flush()) {
        return hp::fail(fmt::format("{}: cannot write this list of known failures", file.string()));
    }
    return {};
}

const ExpectedFailure* ExpectedFailures::find(std::string_view row, Check check) const {
    const auto found = std::find_if(failures_.begin(), failures_.end(), [&](const auto& failure) {
        return failure.row == row && failure.check == check;
    });
    return found == failures_.end() ? nullptr : &*found;
}

ExpectedFailures ExpectedFailures::updated(const std::vector<RowResult>& rows) const {
    std::set<std::string> ran;
    std::vector<ExpectedFailure> fresh;
    std::set<std::pair<std::string, Check>> passed_once;
    for (const RowResult& row : rows) {
        if (row.outcome == Outcome::skip) {
            continue;
        }
        ran.insert(row.expected_key);
        for (const CheckResult& check : row.checks) {
            if (check.passed) {
                passed_once.emplace(row.expected_key, check.check);
                continue;
            }
            const auto same = std::find_if(fresh.begin(), fresh.end(), [&](const auto& failure) {
                return failure.row == row.expected_key && failure.check == check.check;
            });
            if (same != fresh.end()) {
                merge(same->matching, matching_of(row, check));
                continue;
            }
            const ExpectedFailure* known = find(row.expected_key, check.check);
            fresh.push_back({row.expected_key, check.check,
                             known != nullptr         ? known->reason
                             : check.evidence.empty() ? "fails"
                                                      : check.evidence.front(),
                             known != nullptr && known->sometimes, matching_of(row, check)});
        }
    }
    std::vector<ExpectedFailure> all;
    for (const ExpectedFailure& failure : failures_) {
        // A race that did not show this time is still known.
        if (!ran.contains(failure.row) || failure.sometimes) {
            const bool repeated = std::any_of(fresh.begin(), fresh.end(), [&](const auto& other) {
                return other.row == failure.row && other.check == failure.check;
            });
            if (!repeated) {
                all.push_back(failure);
            }
        }
    }
    for (ExpectedFailure& failure : fresh) {
        failure.sometimes = failure.sometimes || passed_once.contains({failure.row, failure.check});
        if (const ExpectedFailure* known = find(failure.row, failure.check);
            known != nullptr && failure.sometimes) {
            merge(failure.matching, known->matching);
        }
        all.push_back(std::move(failure));
    }
    return ExpectedFailures(std::move(all));
}

std::filesystem::path expected_file(const std::filesystem::path& folder, std::string_view release,
                                    std::string_view flavour) {
    const auto exact = folder / fmt::format("{}-{}.json", release, flavour);
    std::error_code error;
    if (std::filesystem::exists(exact, error)) {
        return exact;
    }
    const size_t major_end = release.find('.');
    const size_t minor_end = major_end == std::string_view::npos
                                 ? std::string_view::npos
                                 : release.find_first_not_of("0123456789", major_end + 1);
    return folder / fmt::format("{}-{}.json", release.substr(0, minor_end), flavour);
}

}  // namespace hotplug
