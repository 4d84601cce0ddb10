// SPDX-License-Identifier: GPL-2.0
// Purpose: see ktap_reader.h.
// Thread: pure functions.
#include "hotplug/judge/ktap_reader.h"

#include <utility>

#include "lib/ktap.h"

namespace hotplug {

namespace {

TestResult judged(hp::ktap::Result read) {
    TestResult result{read.name.empty() ? "test " + std::to_string(read.number)
                                        : std::move(read.name),
                      TestOutcome::fail, std::move(read.note)};
    if (read.ok) {
        const bool skipped = read.directive == hp::ktap::Directive::skip;
        result.outcome = skipped ? TestOutcome::skip : TestOutcome::pass;
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
        if (auto result = hp::ktap::parse_result(line)) {
            results.push_back(judged(std::move(*result)));
        }
    }
    return results;
}

}  // namespace hotplug
