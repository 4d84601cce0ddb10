// SPDX-License-Identifier: GPL-2.0
// Purpose: finding QEMU and the emulator, and what is said when they are not there.
// Thread: one.
#include "hotplug/machine/host_tools.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "hotplug/base/temporary_directory.h"

namespace hotplug {
namespace {

namespace fs = std::filesystem;

/// Sets a variable for one test.
class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name) {
        if (const char* old = std::getenv(name)) {
            old_ = old;
        }
        ::setenv(name, value.c_str(), 1);
    }
    ~Variable() { old_ ? ::setenv(name_, old_->c_str(), 1) : ::unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    const char* name_;
    std::optional<std::string> old_;
};

class HostToolsTest : public testing::Test {
protected:
    // A script that stands for a QEMU of that version.
    void make_qemu(const std::string& version, const std::string& devices) {
        script(directory_.path() / "qemu-system-x86_64",
               "case $1 in --version) echo 'QEMU emulator version " + version +
                   "';; *) echo 'name \"" + devices + "\", bus PCI';; esac");
    }
    static void script(const fs::path& path, const std::string& text) {
        std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
        fs::permissions(path, fs::perms::owner_all);
    }

    TemporaryDirectory directory_ = TemporaryDirectory::make().value();
    Variable path_{"PATH", directory_.path().string() + ":/usr/bin:/bin"};
    Variable toolroot_{"HP_TOOLROOT", ""};
    Variable emulator_{"HP_EMULATOR", ""};
};

TEST(QemuVersionTest, Parses) {
    auto version = parse_qemu_version(
        "QEMU emulator version 11.1.3 (Debian 1:11.1.3+ds-1~bpo13+1)\nCopyright (c) 2003\n");
    ASSERT_TRUE(version) << version.error().message;
    EXPECT_EQ(*version, (QemuVersion{11, 1, 3}));
    EXPECT_EQ(version->text(), "11.1.3");
    EXPECT_EQ(parse_qemu_version("QEMU emulator version 10.1.0").value(), oldest_usable_qemu);
    EXPECT_LT(parse_qemu_version("QEMU emulator version 7.2.22 (Debian)").value(),
              oldest_usable_qemu);
    EXPECT_LT((QemuVersion{10, 0, 99}), oldest_usable_qemu);
}

TEST(QemuVersionTest, RefusesOtherText) {
    for (const char* text : {"", "bash: command not found", "QEMU emulator version",
                             "QEMU emulator version 11", "QEMU emulator version 11.x.1"}) {
        EXPECT_FALSE(parse_qemu_version(text)) << text;
    }
}

TEST_F(HostToolsTest, TakesTheHostsQemu) {
    make_qemu("10.1.2 (Debian)", "vfio-user-pci");
    auto qemu = find_qemu(std::nullopt);
    ASSERT_TRUE(qemu) << qemu.error().message;
    EXPECT_EQ(qemu->version, (QemuVersion{10, 1, 2}));
    EXPECT_EQ(qemu->version_line, "QEMU emulator version 10.1.2 (Debian)");
    EXPECT_EQ(qemu->command.argv, std::vector<std::string>{"qemu-system-x86_64"});
}

TEST_F(HostToolsTest, SaysWhyTheHostsQemuIsNoGood) {
    make_qemu("7.2.22", "vfio-user-pci");
    auto old = find_qemu(std::nullopt);
    ASSERT_FALSE(old);
    EXPECT_NE(old.error().message.find("it is 7.2.22, 10.1.0 or newer is needed"),
              std::string::npos);
    EXPECT_NE(old.error().message.find("--toolroot"), std::string::npos);

    make_qemu("11.1.3", "vfio-pci");
    auto small = find_qemu(std::nullopt);
    ASSERT_FALSE(small);
    EXPECT_NE(small.error().message.find("without the device vfio-user-pci"), std::string::npos);
}

TEST_F(HostToolsTest, FallsBackToTheRootOfTheEnvironment) {
    make_qemu("7.2.22", "vfio-user-pci");
    fs::path root = directory_.path() / "root";
    fs::create_directories(root / "lib64");
    // Stands for the root's loader; its arguments are the library path and the program.
    script(root / "lib64/ld-linux-x86-64.so.2",
           "case \"$*\" in *--version) echo 'QEMU emulator version 11.1.3 (root)';;"
           " *) echo \"name \\\"vfio-user-pci\\\"\";; esac");
    Variable toolroot("HP_TOOLROOT", root.string());
    auto qemu = find_qemu(std::nullopt);
    ASSERT_TRUE(qemu) << qemu.error().message;
    EXPECT_EQ(qemu->version, (QemuVersion{11, 1, 3}));
    EXPECT_EQ(qemu->command.environment.at("QEMU_MODULE_DIR"),
              (root / "usr/lib/x86_64-linux-gnu/qemu").string());
    EXPECT_EQ(qemu->command.argv.at(3), (root / "usr/bin/qemu-system-x86_64").string());
    EXPECT_TRUE(read_packages(qemu->packages).empty());
    std::ofstream(root / ".packages") << "libc6_2.41-12_amd64\nqemu-system-x86_11.1.3_amd64\n";
    EXPECT_EQ(read_packages(qemu->packages),
              (std::vector<std::string>{"libc6_2.41-12_amd64", "qemu-system-x86_11.1.3_amd64"}));
}

TEST_F(HostToolsTest, RootWithoutQemu) {
    auto qemu = find_qemu(directory_.path());
    ASSERT_FALSE(qemu);
    EXPECT_NE(qemu.error().message.find(directory_.path().string()), std::string::npos);
    EXPECT_NE(qemu.error().message.find("--toolroot"), std::string::npos);
}

TEST_F(HostToolsTest, Emulator) {
    auto missing = find_emulator(directory_.path() / "amdgpu-emu");
    ASSERT_FALSE(missing);
    EXPECT_NE(missing.error().message.find("build it"), std::string::npos);

    script(directory_.path() / "amdgpu-emu", "");
    EXPECT_EQ(find_emulator(directory_.path() / "amdgpu-emu").value(),
              directory_.path() / "amdgpu-emu");
    Variable emulator("HP_EMULATOR", (directory_.path() / "amdgpu-emu").string());
    EXPECT_EQ(find_emulator(std::nullopt).value(), directory_.path() / "amdgpu-emu");
}

}  // namespace
}  // namespace hotplug
