// SPDX-License-Identifier: GPL-2.0
// Purpose: see expected.h.
// Thread: values.
#include "hotplug/judge/expected.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "lib/json_text.h"

namespace hotplug {

namespace {

using json = nlohmann::ordered_json;

std::string refusal(const std::string& file, size_t index, std::string_view why) {
    return fmt::format("{}: /{}: {}", file, index, why);
}

bool is_count(const json& value) {
    return value.is_number_unsigned() && value.get<uint64_t>() != 0 &&
           value.get<uint64_t>() <= 1'000'000;
}

/// Empty: it is one.
std::string fault_of_rate(const json& rate) {
    if (!rate.is_object() || rate.size() != 3 || !rate.contains("failed") || !rate.contains("of") ||
        !rate.contains("race") || !rate["race"].is_string() ||
        rate["race"].get<std::string>().empty()) {
        return "member 'sometimes' must be an object of failed, of and race: how often it failed, "
               "of "
               "how many tries, and what decides";
    }
    if (!is_count(rate["failed"]) || !is_count(rate["of"]) ||
        rate["failed"].get<unsigned>() > rate["of"].get<unsigned>()) {
        return "member 'sometimes': failed must be from 1 to of";
    }
    return {};
}

bool is_matching(const json& value) {
    return value.is_array() && !value.empty() &&
           std::all_of(value.begin(), value.end(), [](const json& element) {
               return element.is_string() && !element.get<std::string>().empty();
           });
}

/// Empty: the entry is well-formed.
std::string fault_of(const json& entry) {
    if (!entry.is_object()) {
        return "expected an object";
    }
    for (const auto& [name, value] : entry.items()) {
        const bool text = name == "row" || name == "check" || name == "reason";
        const bool list = name == "matching" && is_matching(value);
        if (!(text && value.is_string()) && !list && name != "sometimes") {
            return fmt::format(
                "member '{}' is not allowed or of the wrong type; allowed: row, check, reason, "
                "matching (what each line of evidence contains one of), sometimes",
                name);
        }
    }
    for (const char* needed : {"row", "check", "reason", "matching"}) {
        if (!entry.contains(needed)) {
            return fmt::format("member '{}' is missing", needed);
        }
    }
    if (!parse_check(entry["check"].get<std::string>())) {
        return fmt::format("no such check '{}'", entry["check"].get<std::string>());
    }
    return entry.contains("sometimes") ? fault_of_rate(entry["sometimes"]) : std::string();
}

ExpectedFailure read_entry(const json& entry) {
    ExpectedFailure failure = {
        entry["row"].get<std::string>(), *parse_check(entry["check"].get<std::string>()),
        entry["reason"].get<std::string>(), entry["matching"].get<std::vector<std::string>>()};
    if (entry.contains("sometimes")) {
        const json& rate = entry["sometimes"];
        failure.sometimes = {rate["failed"].get<unsigned>(), rate["of"].get<unsigned>(),
                             rate["race"].get<std::string>()};
    }
    return failure;
}

double log_choose(unsigned n, unsigned k) {
    return std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0);
}

}  // namespace

bool FailureRate::contradicts(unsigned failed_now, unsigned tries_now) const {
    const unsigned tries = of + tries_now;
    const unsigned failures = failed + failed_now;
    // Of all tries, so many failures fell to this run: the hypergeometric distribution.
    const auto log_chance = [&](unsigned here) {
        return log_choose(tries_now, here) + log_choose(of, failures - here) -
               log_choose(tries, failures);
    };
    const double seen = log_chance(failed_now);
    double as_odd = 0;
    for (unsigned here = failures > of ? failures - of : 0; here <= std::min(failures, tries_now);
         ++here) {
        const double chance = log_chance(here);
        as_odd += chance <= seen + 1e-9 ? std::exp(chance) : 0;
    }
    return as_odd < 0.001;
}

bool ExpectedFailure::covers(const std::vector<std::string>& evidence) const {
    return std::all_of(evidence.begin(), evidence.end(), [&](const std::string& line) {
        return std::any_of(matching.begin(), matching.end(), [&](const std::string& wanted) {
            return line.find(wanted) != std::string::npos;
        });
    });
}

hp::Result<ExpectedFailures> ExpectedFailures::parse(std::string_view text,
                                                     const std::string& file) {
    const auto parsed = hp::parse_json_text(text, file);
    if (!parsed) {
        return tl::unexpected(parsed.error());
    }
    const json& list = *parsed;
    if (!list.is_array()) {
        return hp::fail(fmt::format("{}: expected a JSON list of known failures", file));
    }
    std::vector<ExpectedFailure> failures;
    std::set<std::pair<std::string, Check>> seen;
    for (size_t i = 0; i < list.size(); ++i) {
        if (const std::string fault = fault_of(list[i]); !fault.empty()) {
            return hp::fail(refusal(file, i, fault));
        }
        ExpectedFailure failure = read_entry(list[i]);
        if (!seen.emplace(failure.row, failure.check).second) {
            return hp::fail(refusal(file, i,
                                    fmt::format("'{}' has an entry for '{}' already", failure.row,
                                                to_string(failure.check))));
        }
        failures.push_back(std::move(failure));
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
                      {"reason", failure.reason},
                      {"matching", failure.matching}};
        if (const auto& rate = failure.sometimes) {
            entry["sometimes"] = {{"failed", rate->failed}, {"of", rate->of}, {"race", rate->race}};
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
