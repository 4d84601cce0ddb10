// SPDX-License-Identifier: GPL-2.0
// Purpose: the list of checks that are known to fail on one kernel:
// scenarios/expected/<kernel>-<flavour>.json. Thread: values.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hotplug/scenario/checks.h"
#include "lib/result.h"

namespace hotplug {

/// How often a failure that depends on a race was seen.
struct FailureRate {
    unsigned failed = 0;  ///< at least 1
    unsigned of = 0;      ///< tries, `failed` included
    std::string race;     ///< what decides

    /// Would so many failures of so many tries be a surprise? Fisher's exact test of both counts,
    /// two-sided, at 0.001: a run in a thousand is called one without being any. Few tries on
    /// either side are no surprise, whatever came of them.
    bool contradicts(unsigned failed_now, unsigned tries_now) const;
};

struct ExpectedFailure {
    std::string row;  ///< a row's id, without the cycle
    Check check = Check::steps;
    std::string reason;
    /// Each line of evidence must contain one of these: a second complaint in a row whose log is
    /// known to be unclean is not taken for the known one. At least one.
    std::vector<std::string> matching{};
    /// Nothing: fails each time.
    std::optional<FailureRate> sometimes{};

    bool covers(const std::vector<std::string>& evidence) const;
};

class ExpectedFailures {
public:
    ExpectedFailures() = default;
    explicit ExpectedFailures(std::vector<ExpectedFailure> failures)
        : failures_(std::move(failures)) {}

    static hp::Result<ExpectedFailures> parse(std::string_view text, const std::string& file);
    static hp::Result<ExpectedFailures> load(const std::filesystem::path& file);
    hp::Result<void> save(const std::filesystem::path& file) const;
    std::string to_json() const;

    /// Null when the check is expected to pass.
    const ExpectedFailure* find(std::string_view row, Check check) const;
    const std::vector<ExpectedFailure>& failures() const { return failures_; }

private:
    std::vector<ExpectedFailure> failures_;
};

/// The file of `folder` for a kernel: of its exact release if there is one, else of its version
/// ("7.3-fast.json"). The latter, which need not exist, is where --update-expected writes.
std::filesystem::path expected_file(const std::filesystem::path& folder, std::string_view release,
                                    std::string_view flavour);

}  // namespace hotplug
