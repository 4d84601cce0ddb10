// SPDX-License-Identifier: GPL-2.0
// Purpose: finding the parts in a build folder, installed, by the environment, and not at all.
// Thread: one.
#include "hotplug/base/parts.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "hotplug/base/temporary_directory.h"

namespace hotplug {
namespace {

namespace fs = std::filesystem;

constexpr const char* variables[] = {"HP_EMULATOR",     "HP_TOOLS",      "HP_SCENARIOS",
                                     "HP_IMAGE_SCRIPT", "HP_POOL_TRIAL", "HP_POOL_DAEMON"};

class PartsTest : public testing::Test {
protected:
    void SetUp() override { forget(); }
    void TearDown() override { forget(); }

    static void forget() {
        for (const char* variable : variables) {
            ::unsetenv(variable);
        }
    }
    static fs::path file(const fs::path& path, const std::string& text = "") {
        fs::create_directories(path.parent_path());
        std::ofstream(path) << text;
        return path;
    }

    TemporaryDirectory directory_ = TemporaryDirectory::make().value();
    fs::path top_ = directory_.path();
};

TEST_F(PartsTest, InABuildFolderOutsideTheSourceTree) {
    const fs::path build = top_ / "build", source = top_ / "source";
    file(build / "CMakeCache.txt",
         "CMAKE_BUILD_TYPE:STRING=Release\n"
         "CMAKE_HOME_DIRECTORY:INTERNAL=" +
             (source / "tools").string() + "\n");
    const fs::path emulator = file(build / "gpu-emu/cli/amdgpu-emu");
    const fs::path image = file(source / "scripts/guest/image");
    const fs::path scenario = file(source / "tools/hotplug/scenarios/10-probe.json");

    const Parts parts(build / "hotplug/hpctl");
    EXPECT_EQ(parts.find(Part::emulator).value(), emulator);
    EXPECT_TRUE(fs::equivalent(parts.find(Part::guest_programs).value(), build));
    EXPECT_EQ(parts.find(Part::scenarios).value(), scenario.parent_path());
    EXPECT_EQ(parts.find(Part::image_script).value(), image);
}

TEST_F(PartsTest, Installed) {
    const fs::path text = top_ / "share/amdgpu-hotplug", built = top_ / "libexec/amdgpu-hotplug";
    const fs::path emulator = file(top_ / "bin/amdgpu-emu");
    const fs::path image = file(text / "scripts/guest/image");
    fs::create_directories(built);
    const fs::path scenario = file(text / "tools/hotplug/scenarios/10-probe.json");

    const Parts parts(top_ / "bin/hpctl");
    EXPECT_EQ(parts.find(Part::emulator).value(), emulator);
    EXPECT_TRUE(fs::equivalent(parts.find(Part::guest_programs).value(), built));
    EXPECT_EQ(parts.find(Part::scenarios).value(), scenario.parent_path());
    EXPECT_EQ(parts.find(Part::image_script).value(), image);
}

TEST_F(PartsTest, OnlyAnInstalledTreeIsNotToBeWritten) {
    const fs::path text = top_ / "share/amdgpu-hotplug";
    const fs::path scenario = file(text / "tools/hotplug/scenarios/10-probe.json");
    const fs::path link = top_ / "link";
    fs::create_symlink(scenario.parent_path(), link);

    const Parts parts(top_ / "bin/hpctl");
    EXPECT_TRUE(parts.installed(scenario.parent_path()));
    EXPECT_TRUE(parts.installed(scenario.parent_path() / "expected"));  // not there yet
    EXPECT_TRUE(parts.installed(link));
    EXPECT_FALSE(parts.installed(top_ / "share/amdgpu-hotplug-mine"));
    EXPECT_FALSE(parts.installed(top_ / "home/scenarios"));

    file(top_ / "CMakeCache.txt",
         "CMAKE_HOME_DIRECTORY:INTERNAL=" + (text / "tools").string() + "\n");
    EXPECT_FALSE(Parts(top_ / "bin/hpctl").installed(scenario.parent_path()));
}

TEST_F(PartsTest, EnvironmentComesFirstUnlessItIsEmpty) {
    const fs::path own = file(top_ / "bin/amdgpu-emu");
    const fs::path other = file(top_ / "other");
    const Parts parts(top_ / "bin/hpctl");
    ::setenv("HP_EMULATOR", other.c_str(), 1);
    EXPECT_EQ(parts.find(Part::emulator).value(), other);
    ::setenv("HP_EMULATOR", "", 1);
    EXPECT_EQ(parts.find(Part::emulator).value(), own);
}

TEST_F(PartsTest, WhatIsMissingIsNamedWithItsVariable) {
    const Parts parts(top_ / "bin/hpctl");
    const auto missing = parts.find(Part::scenarios);
    ASSERT_FALSE(missing);
    EXPECT_NE(missing.error().message.find(
                  (top_ / "share/amdgpu-hotplug/tools/hotplug/scenarios").string()),
              std::string::npos);
    EXPECT_NE(missing.error().message.find("$HP_SCENARIOS"), std::string::npos);

    ::setenv("HP_SCENARIOS", (top_ / "nowhere").c_str(), 1);
    const auto named = parts.find(Part::scenarios);
    ASSERT_FALSE(named);
    EXPECT_NE(named.error().message.find((top_ / "nowhere").string()), std::string::npos);
}

TEST_F(PartsTest, ThisProgramFindsItsSourceTree) {
    const auto image = Parts::of_this_program().find(Part::image_script);
    ASSERT_TRUE(image) << image.error().message;
    EXPECT_TRUE(fs::is_regular_file(*image));
}

}  // namespace
}  // namespace hotplug
