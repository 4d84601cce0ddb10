// SPDX-License-Identifier: GPL-2.0
// Purpose: machines that cannot start: each names its reason in one line and leaves nothing behind.
// Thread: one.
#include "hotplug/machine/machine.h"

#include <gtest/gtest.h>

#include <fstream>

#include "hotplug/base/temporary_directory.h"

namespace hotplug {
namespace {

class MachineTest : public testing::Test {
protected:
    MachineTest() {
        config_.kernel = file("bzImage");
        config_.initrd = file("initrd");
        config_.log_dir = directory_.path() / "logs";
        config_.qemu.command = {{"true"}, {}};
        for (SlotConfig& slot : config_.slots) {
            slot.device = SlotDevice::empty;
        }
    }
    std::filesystem::path file(const char* name) const {
        std::ofstream(directory_.path() / name) << name;
        return directory_.path() / name;
    }
    std::string error() {
        auto machine = Machine::start(config_);
        return machine ? "" : machine.error().message;
    }

    TemporaryDirectory directory_ = TemporaryDirectory::make().value();
    MachineConfig config_;
};

TEST_F(MachineTest, WrongKernelPath) {
    config_.kernel = "/nonexistent/bzImage";
    EXPECT_EQ(error(), "the kernel '/nonexistent/bzImage' is not a readable file");
    EXPECT_FALSE(std::filesystem::exists(config_.log_dir));
}

TEST_F(MachineTest, WrongInitrdPath) {
    config_.initrd = directory_.path();
    EXPECT_NE(error().find("the initrd"), std::string::npos);
}

TEST_F(MachineTest, TooManySlotsTooLittleMemory) {
    config_.memory_mib = 512;
    EXPECT_NE(error().find("2048 is the least"), std::string::npos);
    config_.slots.resize(GpuSlot::max_slots + 1);
    EXPECT_NE(error().find("32 is the most"), std::string::npos);
}

TEST_F(MachineTest, MoreMemoryThanTheHostHas) {
    config_.memory_mib = 1u << 30;
    EXPECT_NE(error().find("MiB available"), std::string::npos) << error();
    EXPECT_FALSE(std::filesystem::exists(config_.log_dir));
}

TEST_F(MachineTest, LogsThatCannotBeWritten) {
    config_.log_dir = file("taken");
    EXPECT_NE(error().find("cannot make"), std::string::npos);
}

TEST_F(MachineTest, QemuThatEndsAtOnce) {
    config_.qemu.command = {{"sh", "-c", "echo 'qemu: no such machine' >&2; exit 1"}, {}};
    auto message = error();
    EXPECT_TRUE(message.starts_with("QEMU ended with exit status 1: qemu: no such machine (see "))
        << message;
}

TEST_F(MachineTest, QemuIsKilledFirstWhenTheHostRunsOutOfMemory) {
    config_.qemu.command = {{"sh", "-c", "cat /proc/self/oom_score_adj; exit 1"}, {}};
    auto message = error();
    EXPECT_TRUE(message.starts_with("QEMU ended with exit status 1: 1000 (see ")) << message;
}

TEST_F(MachineTest, QemuThatIsNotThere) {
    config_.qemu.command = {{"/nonexistent/qemu"}, {}};
    EXPECT_EQ(error(), "cannot execute /nonexistent/qemu: No such file or directory");
}

TEST_F(MachineTest, QemuThatNeverListens) {
    config_.qemu.command = {{"sh", "-c", "exec sleep 1000"}, {}};
    config_.boot_deadline = std::chrono::seconds(1);
    EXPECT_NE(error().find("QEMU: waited"), std::string::npos);
}

TEST_F(MachineTest, EmulatorThatEndsAtOnce) {
    config_.slots[0].device = SlotDevice::gpu;
    config_.emulator = file("amdgpu-emu");
    std::ofstream(config_.emulator) << "#!/bin/sh\necho 'socket in use' >&2\nexit 1\n";
    std::filesystem::permissions(config_.emulator, std::filesystem::perms::owner_all);
    auto message = error();
    EXPECT_TRUE(message.starts_with("the emulator gpu0 ended with exit status 1: socket in use"))
        << message;
}

TEST_F(MachineTest, EmulatorIsKilledFirstWhenTheHostRunsOutOfMemory) {
    config_.slots[0].device = SlotDevice::gpu;
    config_.emulator = file("amdgpu-emu");
    std::ofstream(config_.emulator) << "#!/bin/sh\ncat /proc/self/oom_score_adj\nexit 1\n";
    std::filesystem::permissions(config_.emulator, std::filesystem::perms::owner_all);
    auto message = error();
    EXPECT_TRUE(message.starts_with("the emulator gpu0 ended with exit status 1: 1000")) << message;
}

}  // namespace
}  // namespace hotplug
