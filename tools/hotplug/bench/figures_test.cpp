// SPDX-License-Identifier: GPL-2.0
// Purpose: the file with a bench's figures.
// Thread: one.
#include "hotplug/bench/figures.h"

#include <gtest/gtest.h>

#include <fstream>

#include "hotplug/base/temporary_directory.h"

namespace hotplug {
namespace {

TEST(Figures, InOrderAndInAFolderThatIsMade) {
    const auto directory = TemporaryDirectory::make().value();
    const std::filesystem::path file = directory.path() / "results" / "bench.json";
    const auto written = write_figures(file, {{"z", 1}, {"a", 2}});
    ASSERT_TRUE(written) << written.error().message;
    std::ifstream in(file);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}),
              "{\n  \"z\": 1,\n  \"a\": 2\n}\n");
}

TEST(Figures, AFileThatCannotBeWrittenIsNamed) {
    const auto directory = TemporaryDirectory::make().value();
    std::ofstream(directory.path() / "taken") << "a file";
    const auto written = write_figures(directory.path() / "taken" / "bench.json", {});
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().message,
              "cannot write " + (directory.path() / "taken" / "bench.json").string());
}

}  // namespace
}  // namespace hotplug
