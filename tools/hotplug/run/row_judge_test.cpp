// SPDX-License-Identifier: GPL-2.0
// Purpose: what the judge asks a shell, asked of this machine's.
// Thread: one.
#include "hotplug/run/row_judge.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "hotplug/base/child_process.h"
#include "lib/temp_tree.h"

namespace hotplug {
namespace {

bool opens(const std::filesystem::path& path) {
    return run_and_capture(Command{{"/bin/sh", "-c", open_command(path.string())}, {}},
                           Deadline::after(std::chrono::seconds(30)))
        .has_value();
}

TEST(OpenCommand, OpensADevice) {
    EXPECT_TRUE(opens("/dev/null"));
}

TEST(OpenCommand, FailsWithoutTheDeviceAndDoesNotMakeAFile) {
    const hp::TempTree tree;
    const std::filesystem::path device = tree.root() / "kfd";
    EXPECT_FALSE(opens(device));
    EXPECT_FALSE(std::filesystem::exists(device));
    std::ofstream(device) << "left by somebody else";
    EXPECT_FALSE(opens(device));
}

}  // namespace
}  // namespace hotplug
