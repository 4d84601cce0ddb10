// SPDX-License-Identifier: GPL-2.0
// Purpose: what is taken for the driver's part of a boot's log, and what a kernel says of its lock
// debugging. Thread: one.
#include "hotplug/guest/boot_fitness.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace hotplug {
namespace {

TEST(BootFitness, DriverBeginsWhereTheInitSaysThatItLoadsIt) {
    std::vector<KernelLine> log = {
        {6, 0, 0, "Kernel command line: console=ttyS0 hp.modprobe=amdgpu"},
        {6, 1, 9'000'000, "virtio_rng: loaded"},
        {6, 2, 22'000'000, std::string(driver_load_line)},
        {6, 3, 22'039'439, "amdgpu: AMDGPU: Lockdep annotations initialized (9 lock levels)"},
        {6, 4, 49'516'332, "guest: modules are loaded"}};
    EXPECT_EQ(find_driver_start(log), 2U);
    log.resize(2);
    EXPECT_EQ(find_driver_start(log), 2U) << "there is no driver yet";
}

TEST(BootFitness, TheInitHasTheLinesThatAreLookedFor) {
    std::ifstream file(HP_SOURCE_SCENARIOS "/../../../scripts/guest/init");
    const std::string init{std::istreambuf_iterator<char>(file), {}};
    ASSERT_FALSE(init.empty());
    for (const std::string_view line : {hp::driver_load_line, hp::modules_loaded_line}) {
        EXPECT_NE(init.find("'<6>" + std::string(line) + "' >/dev/kmsg"), std::string::npos)
            << line;
    }
}

TEST(BootFitness, LockdepSaysWhetherItIsOn) {
    const auto stats = [](const std::string& debug_locks) {
        return " max lock class index:                  2011\n" + debug_locks +
               "\n zapped classes:                           5\n";
    };
    EXPECT_EQ(lock_debugging_on(stats(" debug_locks:                             1\n")), true);
    EXPECT_EQ(lock_debugging_on(stats(" debug_locks:                             0\n")), false);
    EXPECT_FALSE(lock_debugging_on(stats(""))) << "no line about it";
    EXPECT_FALSE(lock_debugging_on(stats(" debug_locks:\n"))) << "no value";
    EXPECT_FALSE(lock_debugging_on(stats(" debug_locks:                            10\n")));
    EXPECT_FALSE(lock_debugging_on(""));
}

}  // namespace
}  // namespace hotplug
