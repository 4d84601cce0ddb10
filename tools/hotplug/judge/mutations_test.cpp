// SPDX-License-Identifier: GPL-2.0
// Purpose: holds the mutations to the table of checks: each check has a row with a fault that fails
// it, and each row says which evidence tells of its fault. That it does is for a guest to show:
// `hpctl run mutations`, Documentation/harness/checks.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "hotplug/judge/expected.h"
#include "hotplug/scenario/catalogue.h"

namespace hotplug {
namespace {

const std::filesystem::path folder = std::filesystem::path(HP_SOURCE_SCENARIOS) / "mutations";

std::vector<ExpectedFailure> faults() {
    const auto list = ExpectedFailures::load(folder / "expected/mutations.json");
    EXPECT_TRUE(list) << list.error().message;
    return list ? list->failures() : std::vector<ExpectedFailure>();
}

std::set<std::string> rows() {
    const auto catalogue = ScenarioCatalogue::load(folder);
    EXPECT_TRUE(catalogue) << catalogue.error().message;
    std::set<std::string> ids;
    if (catalogue) {
        const std::string tags[] = {"mutations", "mutations-debug"};
        const auto selected = catalogue->select(tags, {});
        EXPECT_TRUE(selected) << selected.error().message;
        for (const Row& row : *selected) {
            ids.insert(row.expected_key());
        }
    }
    return ids;
}

TEST(Mutations, EachCheckHasAFaultThatFailsIt) {
    const auto all = faults();
    for (const CheckInfo& check : all_checks()) {
        const auto is_fault = [&](const ExpectedFailure& fault) {
            return fault.check == check.check;
        };
        EXPECT_TRUE(std::any_of(all.begin(), all.end(), is_fault))
            << check.name << " could pass whatever happens: write a row with a fault that fails it";
    }
}

// `make check` has time for one each.
TEST(Mutations, EachCheckHasAFaultInTheShortSet) {
    const auto catalogue = ScenarioCatalogue::load(folder);
    ASSERT_TRUE(catalogue) << catalogue.error().message;
    const auto rows = catalogue->select(std::vector<std::string>{"mutations-short"}, {});
    ASSERT_TRUE(rows) << rows.error().message;
    const auto all = faults();
    std::map<Check, int> count;
    for (const ExpectedFailure& fault : all) {
        count[fault.check] +=
            static_cast<int>(std::count_if(rows->begin(), rows->end(), [&](const Row& row) {
                return row.expected_key() == fault.row;
            }));
    }
    for (const CheckInfo& check : all_checks()) {
        EXPECT_EQ(count[check.check], 1) << check.name;
    }
}

TEST(Mutations, EachRowHasAFault) {
    std::set<std::string> listed;
    for (const ExpectedFailure& fault : faults()) {
        listed.insert(fault.row);
    }
    EXPECT_EQ(listed, rows());
}

TEST(Mutations, EachFaultIsCertainAndHasEvidence) {
    for (const ExpectedFailure& fault : faults()) {
        EXPECT_FALSE(fault.sometimes) << fault.row;
        EXPECT_FALSE(fault.matching.empty()) << fault.row;
    }
}

}  // namespace
}  // namespace hotplug
