// SPDX-License-Identifier: GPL-2.0
// Purpose: what a machine's configuration becomes on QEMU's and the emulator's command lines.
// Thread: one.
#include "hotplug/machine/qemu_arguments.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hotplug/machine/host_clock.h"
#include "hotplug/machine/pcie_switch.h"

namespace hotplug {
namespace {

// The value behind an option; empty when it is not there.
std::string value_of(const std::vector<std::string>& arguments, const std::string& option) {
    auto found = std::find(arguments.begin(), arguments.end(), option);
    bool has_value = found != arguments.end() && found + 1 != arguments.end();
    return has_value ? *(found + 1) : "";
}

bool has(const std::vector<std::string>& arguments, const std::string& text) {
    return std::find(arguments.begin(), arguments.end(), text) != arguments.end();
}

TEST(QemuArgumentsTest, SharedMemoryAndNativeHotplug) {
    MachineConfig config;
    config.kernel = "/k/bzImage";
    config.log_dir = "/logs";
    auto arguments = qemu_arguments(config, "/s", {R"({"driver":"pcie-root-port"})"});
    EXPECT_EQ(value_of(arguments, "-machine"), "q35,memory-backend=ram");
    EXPECT_EQ(value_of(arguments, "-object"), "memory-backend-memfd,id=ram,size=3072M,share=on");
    EXPECT_EQ(value_of(arguments, "-global"), "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off");
    EXPECT_EQ(value_of(arguments, "-accel"), "tcg,thread=multi");
    EXPECT_EQ(value_of(arguments, "-cpu"), "max,la57=off");
    EXPECT_EQ(value_of(arguments, "-kernel"), "/k/bzImage");
    EXPECT_EQ(value_of(arguments, "-qtest"), "unix:/s/qtest,server=on,wait=off");
    EXPECT_TRUE(has(arguments, R"({"driver":"pcie-root-port"})"));
    EXPECT_FALSE(has(arguments, "-blockdev"));
}

TEST(QemuArgumentsTest, KernelCommandLine) {
    MachineConfig config;
    config.extra_cmdline = "slub_debug=FZP";
    auto line = value_of(qemu_arguments(config, "/s", {}), "-append");
    EXPECT_NE(line.find("hp.modprobe=amdgpu"), std::string::npos);
    EXPECT_NE(line.find(" no_timer_check tsc=nowatchdog "), std::string::npos);
    EXPECT_TRUE(line.ends_with(" slub_debug=FZP"));
    config.load_driver = false;
    line = value_of(qemu_arguments(config, "/s", {}), "-append");
    EXPECT_EQ(line.find("hp.modprobe"), std::string::npos);
}

TEST(QemuArgumentsTest, AGuestIsToldTheRateOfAClockThatIsTheHosts) {
    const auto told = [](const MachineConfig& config) {
        const auto line = value_of(qemu_arguments(config, "/s", {}), "-append");
        return line.find(" tsc_early_khz=2596136") != std::string::npos;
    };
    MachineConfig config;
    EXPECT_EQ(config.tsc_khz, host_tsc_khz());
    config.tsc_khz = 2596136;
    EXPECT_TRUE(told(config));
    config.count_instructions = true;
    EXPECT_FALSE(told(config));
    config.count_instructions = false;
    config.accelerator = Accelerator::kvm;
    EXPECT_FALSE(told(config));
    config.accelerator = Accelerator::tcg;
    config.tsc_khz = 0;
    const auto line = value_of(qemu_arguments(config, "/s", {}), "-append");
    EXPECT_EQ(line.find("tsc_early_khz"), std::string::npos);
}

TEST(QemuArgumentsTest, InstructionsAreCountedInOneThread) {
    MachineConfig config;
    EXPECT_FALSE(has(qemu_arguments(config, "/s", {}), "-icount"));
    config.count_instructions = true;
    const auto arguments = qemu_arguments(config, "/s", {});
    EXPECT_EQ(value_of(arguments, "-icount"), "shift=0");
    EXPECT_EQ(value_of(arguments, "-accel"), "tcg,thread=single");
}

TEST(QemuArgumentsTest, TheIommuComesBeforeWhatItTranslates) {
    MachineConfig config;
    const std::string iommu = "intel-iommu,caching-mode=on,intremap=off";
    EXPECT_FALSE(has(qemu_arguments(config, "/s", {}), iommu));
    EXPECT_EQ(value_of(qemu_arguments(config, "/s", {}), "-append").find("iommu"),
              std::string::npos);
    config.iommu = true;
    const auto arguments = qemu_arguments(config, "/s", {"gpu"});
    EXPECT_EQ(value_of(arguments, "-device"), iommu) << "the first of them";
    EXPECT_NE(value_of(arguments, "-append").find(" intel_iommu=on"), std::string::npos);
}

TEST(QemuArgumentsTest, NvmeControlHasADisk) {
    MachineConfig config;
    config.slots[1].device = SlotDevice::nvme;
    auto disk = value_of(qemu_arguments(config, "/s", {}), "-blockdev");
    EXPECT_TRUE(disk.starts_with("null-co,node-name=disk1,"));
}

TEST(GpuSlotTest, NamesAndControlDevices) {
    SlotConfig config;
    config.device = SlotDevice::nvme;
    GpuSlot slot(1, config, {});
    EXPECT_EQ(slot.slot_name(), "2");
    auto devices = slot.qemu_devices(2);
    ASSERT_EQ(devices.size(), 2u);
    auto port = nlohmann::json::parse(devices[0]);
    EXPECT_EQ(port["id"], "rp1");
    EXPECT_EQ(port["addr"], "0x5");
    auto disk = nlohmann::json::parse(devices[1]);
    EXPECT_EQ(disk["bus"], "rp1");
    EXPECT_EQ(disk["drive"], "disk1");
}

TEST(GpuSlotTest, MoreThanEightShareDevices) {
    SlotConfig config;
    config.device = SlotDevice::empty;
    const auto port = [&config](unsigned index, size_t slots) {
        return nlohmann::json::parse(GpuSlot(index, config, {}).qemu_devices(slots).at(0));
    };
    EXPECT_FALSE(port(7, 8).contains("multifunction")) << "each has a device of its own";
    EXPECT_EQ(port(7, 8)["addr"], "0xb");
    EXPECT_EQ(port(7, 9)["addr"], "0xb");
    EXPECT_EQ(port(0, 9)["multifunction"], true) << "else a guest does not look for others";
    EXPECT_EQ(port(8, 9)["addr"], "0x4.1");
    EXPECT_FALSE(port(8, 9).contains("multifunction"));
    EXPECT_EQ(port(31, 32)["addr"], "0xb.3");
    EXPECT_EQ(port(31, 32)["slot"], 32);
}

TEST(GpuSlotTest, BehindASwitchThePortIsOneOfThat) {
    SlotConfig config;
    config.device = SlotDevice::empty;
    GpuSlot::Environment environment;
    environment.behind_switch = true;
    const auto port = nlohmann::json::parse(GpuSlot(1, config, environment).qemu_devices(2).at(0));
    EXPECT_EQ(port["driver"], "xio3130-downstream");
    EXPECT_EQ(port["bus"], "switch");
    EXPECT_EQ(port["addr"], "0x1");
    EXPECT_EQ(port["slot"], 2);
    EXPECT_FALSE(port.contains("mem-reserve")) << "a property of the root port's";
}

TEST(PcieSwitchTest, TheEduIsBehindTheSlots) {
    const auto devices = switch_devices(2);
    ASSERT_EQ(devices.size(), 4u);
    const auto root = nlohmann::json::parse(devices[0]);
    EXPECT_EQ(root["addr"], "0x4") << "slot 0 has its port elsewhere";
    EXPECT_EQ(root["pref64-reserve"], 16ull << 30);
    EXPECT_EQ(nlohmann::json::parse(devices[1])["id"], switch_bus);
    const auto port = nlohmann::json::parse(devices[2]);
    EXPECT_EQ(port["addr"], "0x2");
    EXPECT_EQ(port["slot"], 10) << "no number of a slot";
    EXPECT_EQ(nlohmann::json::parse(devices[3])["bus"], port["id"]);
}

TEST(EmulatorCommandTest, BoardAndBlackHole) {
    EmulatorSpec spec;
    spec.name = "gpu0";
    spec.program = "/bin/amdgpu-emu";
    spec.socket_dir = "/s";
    spec.log_dir = "/logs";
    spec.gpu.device_id = 0x74a5;
    spec.gpu.vram_mib = 512;
    spec.node = 1;
    auto argv = emulator_command(spec).argv;
    EXPECT_EQ(value_of(argv, "--socket"), "/s/gpu0.vfu");
    EXPECT_EQ(value_of(argv, "--control"), "/s/gpu0.ctl");
    EXPECT_EQ(value_of(argv, "--device-id"), "0x74a5");
    EXPECT_EQ(value_of(argv, "--vram-mib"), "512");
    EXPECT_EQ(value_of(argv, "--trace"), "/logs/gpu0.trace");
    EXPECT_TRUE(has(argv, "--die-with-parent"));
    EXPECT_FALSE(has(argv, "--serial"));
    EmulatorSpec lasting = spec;
    lasting.gpu.serial = 0xe01;
    lasting.die_with_parent = false;
    EXPECT_EQ(value_of(emulator_command(lasting).argv, "--serial"), "0xe01");
    EXPECT_FALSE(has(emulator_command(lasting).argv, "--die-with-parent"));
    EXPECT_FALSE(has(argv, "--opposite"));
    EmulatorSpec opposite = spec;
    opposite.gpu.opposites = {"sos-up-at-once"};
    EXPECT_EQ(value_of(emulator_command(opposite).argv, "--opposite"), "sos-up-at-once");
    EXPECT_FALSE(has(argv, "--black-hole"));
    EXPECT_FALSE(has(argv, "--hive") || has(argv, "--node")) << "an MI300X alone";
    spec.gpu.profile = "mi300x-hive";
    argv = emulator_command(spec).argv;
    EXPECT_EQ(value_of(argv, "--hive"), "/s");
    EXPECT_EQ(value_of(argv, "--node"), "1");
    EXPECT_FALSE(has(argv, "--switch"));
    spec.behind_switch = true;
    argv = emulator_command(spec).argv;
    EXPECT_EQ(value_of(argv, "--switch"), "/s");
    EXPECT_EQ(std::ranges::count(argv, "--node"), 1) << "one number for both";
    spec.gpu.profile = "mi300x";
    EXPECT_EQ(value_of(emulator_command(spec).argv, "--node"), "1");
    spec.gpu.profile = "voodoo2";
    EXPECT_FALSE(has(emulator_command(spec).argv, "--hive")) << "the emulator says what is wrong";
    spec.gpu.profile = "mi300x-hive";
    spec.black_hole = true;
    EXPECT_FALSE(has(emulator_command(spec).argv, "--switch"));
    spec.gpu.trace = false;
    spec.gpu.vram_mib.reset();
    argv = emulator_command(spec).argv;
    EXPECT_FALSE(has(argv, "--vram-mib")) << "the profile's";
    EXPECT_TRUE(has(argv, "--black-hole"));
    EXPECT_FALSE(has(argv, "--hive")) << "nothing of a GPU is in it";
    EXPECT_FALSE(has(argv, "--trace"));
}

}  // namespace
}  // namespace hotplug
