// SPDX-License-Identifier: GPL-2.0
// Purpose: see ktap_reader.h.
// Thread: pure functions.
#include "hotplug/judge/ktap_reader.h"

#include <optional>

namespace hotplug {

namespace {

constexpr std::string_view kDigits = "0123456789";

bool take(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) {
        return false;
    }
    text.remove_prefix(prefix.size());
    return true;
}

/// `not ok 3 - ttm_device_init_basic # SKIP no such board`
std::optional<TestResult> parse_line(std::string_view line) {
    TestResult result;
    if (take(line, "not ")) {
        result.outcome = TestOutcome::fail;
    }
    if (!take(line, "ok ")) {
        return {};
    }
    const size_t number_end = line.find_first_not_of(kDigits);
    if (number_end == 0 || number_end == std::string_view::npos) {
        return {};
    }
    line.remove_prefix(number_end);
    if (!take(line, " ")) {
        return {};
    }
    take(line, "- ");
    const size_t directive = line.find(" # ");
    result.name = line.substr(0, directive);
    if (directive != std::string_view::npos) {
        std::string_view note = line.substr(directive + 3);
        if (take(note, "SKIP") && result.outcome == TestOutcome::pass) {
            result.outcome = TestOutcome::skip;
        }
        take(note, " ");
        result.note = note;
    }
    if (result.name.empty()) {
        return {};
    }
    return result;
}

}  // namespace

std::string_view to_string(TestOutcome outcome) {
    switch (outcome) {
        case TestOutcome::pass: return "pass";
        case TestOutcome::fail: return "fail";
        case TestOutcome::skip: return "skip";
    }
    return "?";
}

std::vector<TestResult> parse_ktap(std::string_view text) {
    std::vector<TestResult> results;
    while (!text.empty()) {
        const size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.ends_with('\r')) {
            line.remove_suffix(1);
        }
        if (auto result = parse_line(line)) {
            results.push_back(std::move(*result));
        }
    }
    return results;
}

}  // namespace hotplug
