// SPDX-License-Identifier: GPL-2.0
// Purpose: the table of checks against itself and against Documentation/harness/checks.md.
// Thread: one.
#include "hotplug/scenario/checks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace hotplug {
namespace {

TEST(Checks, NamesLeadBackToTheirRow) {
    for (const CheckInfo& row : all_checks()) {
        EXPECT_EQ(parse_check(row.name), row.check);
        EXPECT_EQ(info(row.check).heading, row.heading);
        EXPECT_EQ(to_string(row.check), row.name);
    }
    EXPECT_FALSE(parse_check("removal"));
}

/// The first two cells of the lines of its table, as "| `name` | heading |".
std::vector<std::string> documented() {
    std::ifstream in(std::filesystem::path(HP_SOURCE_SCENARIOS) /
                     "../../../Documentation/harness/checks.md");
    std::vector<std::string> rows;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("| `")) {
            rows.push_back(line.substr(0, line.find('|', line.find('|', 1) + 1) + 1));
        } else if (line.starts_with("## ")) {
            break;  // later tables are of other things
        }
    }
    return rows;
}

TEST(Checks, EachIsExplained) {
    std::vector<std::string> wanted;
    for (const CheckInfo& row : all_checks()) {
        wanted.push_back(fmt::format("| `{}` | {} |", row.name, row.heading));
    }
    auto rows = documented();
    std::sort(rows.begin(), rows.end());
    std::sort(wanted.begin(), wanted.end());
    EXPECT_EQ(rows, wanted);
}

}  // namespace
}  // namespace hotplug
