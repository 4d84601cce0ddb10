// SPDX-License-Identifier: GPL-2.0
// Purpose: finds the results of single tests in what a program printed in KTAP, the format of the
// kernel's own tests. Reads lines that are not indented: subtests belong to their test, and
// comments are for people. Thread: pure functions. Not modelled: the numbers of tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hotplug {

enum class TestOutcome { pass, fail, skip };

std::string_view to_string(TestOutcome outcome);

struct TestResult {
    std::string name;
    TestOutcome outcome = TestOutcome::pass;
    std::string note{};  ///< what follows the name: why it was skipped, or how it failed
};

/// In the order in which they ended. Text without such a line has none. What was promised and did
/// not come is a failure of its own: "plan" where a plan (`1..N`) and the number of results differ,
/// "Bail out!" where the program gave up. Several programs may have printed, one after the other:
/// each keeps its own plan. A program without a plan promises nothing.
std::vector<TestResult> parse_ktap(std::string_view text);

}  // namespace hotplug
