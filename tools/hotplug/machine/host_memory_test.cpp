// SPDX-License-Identifier: GPL-2.0
// Purpose: what machines need of the host's memory, and who is refused.
// Thread: one.
#include "hotplug/machine/host_memory.h"

#include <gtest/gtest.h>

#include <fstream>

#include "hotplug/base/temporary_directory.h"
#include "hotplug/machine/machine.h"

namespace hotplug {
namespace {

class HostMemoryTest : public testing::Test {
protected:
    HostMemoryTest() {
        config_.memory_mib = 3000;
        config_.slots.resize(3);
        config_.slots[2].device = SlotDevice::nvme;
    }
    std::filesystem::path meminfo(const std::string& text) const {
        const std::filesystem::path path = directory_.path() / "meminfo";
        std::ofstream(path) << text;
        return path;
    }
    std::filesystem::path available(uint64_t mib) const {
        return meminfo(
            "MemTotal:       99999999 kB\nMemFree:            1024 kB\nMemAvailable:   " +
            std::to_string(mib * 1024) + " kB\n");
    }

    TemporaryDirectory directory_ = TemporaryDirectory::make().value();
    MachineConfig config_;
};

TEST_F(HostMemoryTest, GuestQemuAndTwoEmulatorsForEachGpu) {
    const MemoryNeed need = memory_need(config_);
    EXPECT_EQ(need.guests, 3000u);
    EXPECT_EQ(need.emulator_count, 4u);
    EXPECT_EQ(need.total(), 3000 + 512 + 4 * 40);
}

TEST_F(HostMemoryTest, RefusedWithTheSum) {
    const uint64_t need = memory_need(config_).total();
    EXPECT_TRUE(check_memory(config_, 1, available(need)));
    const auto refused = check_memory(config_, 1, available(need - 1));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message,
              "1 guest with 3000 MiB of memory each, 512 MiB for QEMU and 160 MiB for 4 emulators "
              "are 3672 MiB, and the host has 3671 MiB available: ask for less --memory or fewer "
              "GPUs");
}

TEST_F(HostMemoryTest, GuestsThatAreAllToStartCountTogether) {
    const uint64_t need = memory_need(config_).total();
    EXPECT_TRUE(check_memory(config_, 8, available(8 * need)));
    const auto refused = check_memory(config_, 8, available(8 * need - 1));
    ASSERT_FALSE(refused);
    EXPECT_TRUE(
        refused.error().message.starts_with("8 guests with 3000 MiB of memory each, 4096 "
                                            "MiB for QEMU and 1280 MiB for 32 emulators"))
        << refused.error().message;
}

TEST_F(HostMemoryTest, MeminfoThatDoesNotSay) {
    EXPECT_FALSE(check_memory(config_, 1, meminfo("MemTotal: 8 kB\nMemAvailable: none\n")));
    EXPECT_FALSE(check_memory(config_, 1, directory_.path() / "nowhere"));
}

}  // namespace
}  // namespace hotplug
