// SPDX-License-Identifier: GPL-2.0
// Purpose: see ktap_reader.h.
// Thread: pure functions.
#include "hotplug/judge/ktap_reader.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
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

/// What one program printed, up to the next one's version line or plan.
class Document {
public:
    explicit Document(std::vector<TestResult>& results) : results_(results) {}

    void begin() {
        end();
        planned_.reset();
        seen_ = 0;
    }

    void plan(uint64_t count) {
        if (planned_) {
            begin();
        }
        planned_ = count;
    }

    void result(TestResult result) {
        ++seen_;
        results_.push_back(std::move(result));
    }

    void bail_out(std::string why) {
        results_.push_back({"Bail out!", TestOutcome::fail, std::move(why)});
    }

    void end() {
        if (planned_ && *planned_ != seen_) {
            results_.push_back({"plan", TestOutcome::fail,
                                fmt::format("{} of {} tests have a result", seen_, *planned_)});
        }
    }

private:
    std::vector<TestResult>& results_;
    std::optional<uint64_t> planned_;
    uint64_t seen_ = 0;
};

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
    Document document(results);
    while (!text.empty()) {
        const size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.ends_with('\r')) {
            line.remove_suffix(1);
        }
        if (auto result = hp::ktap::parse_result(line)) {
            document.result(judged(std::move(*result)));
        } else if (const auto plan = hp::ktap::parse_plan(line)) {
            document.plan(*plan);
        } else if (hp::ktap::is_version_line(line)) {
            document.begin();
        } else if (auto why = hp::ktap::parse_bail_out(line)) {
            document.bail_out(std::move(*why));
        }
    }
    document.end();
    return results;
}

}  // namespace hotplug
