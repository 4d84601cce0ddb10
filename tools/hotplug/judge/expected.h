// SPDX-License-Identifier: GPL-2.0
// Purpose: the list of checks that are known to fail on one kernel:
// scenarios/expected/<kernel>-<flavour>.json. Thread: values.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hotplug/scenario/scenario.h"
#include "lib/result.h"

namespace hotplug {

struct RowResult;

struct ExpectedFailure {
    std::string row;  ///< a row's id, without the cycle
    Check check = Check::steps;
    std::string reason;
    /// Depends on a race: passing is no surprise either.
    bool sometimes = false;
    /// Each line of evidence must contain one of these; empty: any evidence. So a second complaint
    /// in a row whose log is known to be unclean is not taken for the known one.
    std::vector<std::string> matching;

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

    /// The list after a run: what failed in the rows that were run, with the reasons that were
    /// known; entries of other rows stay.
    ExpectedFailures updated(const std::vector<RowResult>& rows) const;

private:
    std::vector<ExpectedFailure> failures_;
};

/// The file of `folder` for a kernel: of its exact release if there is one, else of its version
/// ("7.3-fast.json"). The latter, which need not exist, is where --update-expected writes.
std::filesystem::path expected_file(const std::filesystem::path& folder, std::string_view release,
                                    std::string_view flavour);

}  // namespace hotplug
