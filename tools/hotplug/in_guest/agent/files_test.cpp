// SPDX-License-Identifier: GPL-2.0
// Purpose: what reads and writes of files answer.
// Thread: one.
#include "hotplug/in_guest/agent/files.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "lib/temp_tree.h"

namespace hp::agent {
namespace {

using nlohmann::json;

TEST(Files, ReadsUpToTheLimit) {
    TempTree tree;
    tree.file("a", "hello");
    const std::string path = tree.root() / "a";
    EXPECT_EQ(read_file(path, 100)["data"], "hello");
    EXPECT_EQ(read_file(path, 3)["data"], "hel");
}

TEST(Files, ErrorsCarryErrnoAndPath) {
    TempTree tree;
    const std::string path = tree.root() / "absent";
    for (const json& answer : {read_file(path, 10), write_file(path, "1"), list_directory(path)}) {
        EXPECT_EQ(answer["ok"], false);
        EXPECT_EQ(answer["errno"], ENOENT);
        EXPECT_NE(answer["error"].get<std::string>().find(path), std::string::npos);
    }
}

TEST(Files, WritesAnExistingFileAndTellsTheTime) {
    TempTree tree;
    tree.file("attribute", "long old text");
    const std::string path = tree.root() / "attribute";
    const json answer = write_file(path, "1");
    EXPECT_EQ(answer["ok"], true);
    EXPECT_TRUE(answer["elapsed_us"].is_number_unsigned());
    EXPECT_EQ(read_file(path, 100)["data"], "1");
}

TEST(Files, AWriteTheKernelRefusesHasItsErrno) {
    const json answer = write_file("/dev/full", "1");
    EXPECT_EQ(answer["ok"], false);
    EXPECT_EQ(answer["errno"], ENOSPC);
    EXPECT_TRUE(answer.contains("elapsed_us"));
}

TEST(Files, ListsNamesInOrder) {
    TempTree tree;
    tree.file("d/b", "");
    tree.file("d/a", "");
    EXPECT_EQ(list_directory(tree.root() / "d")["names"], (json{"a", "b"}));
}

TEST(Kmemleak, SplitsReports) {
    const auto reports = split_kmemleak(
        "unreferenced object 0xffff1 (size 32):\n  comm \"a\"\n  backtrace:\n"
        "unreferenced object 0xffff2 (size 64):\n  comm \"b\"\n");
    ASSERT_EQ(reports.size(), 2u);
    EXPECT_EQ(reports[0].find("unreferenced object 0xffff1"), 0u);
    EXPECT_NE(reports[0].find("backtrace"), std::string::npos);
    EXPECT_EQ(reports[0].find("0xffff2"), std::string::npos);
    EXPECT_NE(reports[1].find("comm \"b\""), std::string::npos);
    EXPECT_TRUE(split_kmemleak("").empty());
}

TEST(Kmemleak, WithoutTheDetectorIsAnErrorThatNamesIt) {
    TempTree tree;
    const json answer = kmemleak(tree.root());
    EXPECT_EQ(answer["ok"], false);
    EXPECT_NE(answer["error"].get<std::string>().find("kmemleak"), std::string::npos);
}

}  // namespace
}  // namespace hp::agent
