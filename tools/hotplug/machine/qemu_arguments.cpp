// SPDX-License-Identifier: GPL-2.0
// Purpose: see qemu_arguments.h.
// Thread: pure function.
#include "hotplug/machine/qemu_arguments.h"

#include <fmt/format.h>

namespace hotplug {

namespace {

// loglevel: the kernel log comes through the agent, printing it to the emulated UART as well would
// cost guest time. panic=-1 with -no-reboot: a panic ends QEMU instead of leaving a dead guest
// behind.
std::string kernel_command_line(const MachineConfig& config) {
    // tsc=nowatchdog: its watchdog takes a tick that comes late for an unstable TSC.
    // no_timer_check: a kernel that counts ticks against a loop of its own finds none when the host
    // is busy, and panics.
    // sysrq_always_enabled: Debian's kernels do not list blocked tasks (sysrq.h) unless they are
    // told to.
    std::string line =
        "console=ttyS0 quiet loglevel=4 panic=-1 log_buf_len=8M printk.devkmsg=on no_timer_check "
        "tsc=nowatchdog sysrq_always_enabled";
    if (config.load_driver) {
        line += " hp.modprobe=amdgpu";
    }
    if (config.iommu) {
        line += " intel_iommu=on";
    }
    // KVM tells its guests by itself. Where instructions are counted, the TSC is not the host's.
    if (config.accelerator == Accelerator::tcg && !config.count_instructions &&
        config.tsc_khz != 0) {
        line += fmt::format(" tsc_early_khz={}", config.tsc_khz);
    }
    if (!config.extra_cmdline.empty()) {
        line += " " + config.extra_cmdline;
    }
    return line;
}

std::string server_socket(const std::string& options, const std::filesystem::path& path) {
    return fmt::format("{}path={},server=on,wait=off", options, path.string());
}

}  // namespace

std::vector<std::string> qemu_arguments(const MachineConfig& config,
                                        const std::filesystem::path& sockets,
                                        const std::vector<std::string>& devices) {
    bool kvm = config.accelerator == Accelerator::kvm;
    std::vector<std::string> arguments{
        "-nodefaults",
        "-no-user-config",
        "-display",
        "none",
        "-no-reboot",
        "-machine",
        "q35,memory-backend=ram",
        // Shared memory, because the emulators do DMA into it.
        "-object",
        fmt::format("memory-backend-memfd,id=ram,size={}M,share=on", config.memory_mib),
        "-m",
        fmt::format("{}M", config.memory_mib),
        // Native PCIe hot-plug instead of ACPI's: pciehp is what serves a GPU's slot on real
        // machines.
        "-global",
        "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off",
        "-accel",
        kvm                         ? "kvm"
        : config.count_instructions ? "tcg,thread=single"
                                    : "tcg,thread=multi",
        // Without five levels of page tables: while Linux identifies the CPU it forgets for a
        // moment that there are five, and KASAN takes an interrupt that comes then for a wild
        // access, which ends its reports and lockdep's.
        "-cpu",
        fmt::format("{},la57=off", kvm ? "host" : "max"),
        "-smp",
        std::to_string(config.cpus),
        "-kernel",
        config.kernel,
        "-initrd",
        config.initrd,
        "-append",
        kernel_command_line(config),
        "-chardev",
        server_socket("socket,id=console,", sockets / "console") +
            fmt::format(",logfile={},logappend=on", (config.log_dir / "console.log").string()),
        "-serial",
        "chardev:console",
        "-qmp",
        fmt::format("unix:{},server=on,wait=off", (sockets / "qmp").string()),
        // Beside the accelerator, not instead of it: memory accesses from outside the guest.
        "-qtest",
        fmt::format("unix:{},server=on,wait=off", (sockets / "qtest").string()),
        "-qtest-log",
        "none",
    };
    if (config.iommu) {
        // Before the devices that it translates. Caching mode: the guest tells of each new mapping,
        // and unmaps at once, or QEMU could not pass its mappings on to a vfio-user device.
        arguments.insert(arguments.end(), {"-device", "intel-iommu,caching-mode=on,intremap=off"});
    }
    arguments.insert(arguments.end(),
                     {
                         "-device",
                         "virtio-serial-pci,id=serial,bus=pcie.0,addr=0x3",
                         "-chardev",
                         server_socket("socket,id=agent,", sockets / "agent"),
                         "-device",
                         "virtserialport,bus=serial.0,chardev=agent,name=org.amdgpu-hotplug.agent",
                     });
    if (config.count_instructions) {
        arguments.insert(arguments.end(), {"-icount", "shift=0"});
    }
    for (size_t i = 0; i < config.slots.size(); ++i) {
        if (config.slots[i].device == SlotDevice::nvme) {
            arguments.insert(arguments.end(),
                             {"-blockdev", fmt::format("null-co,node-name=disk{},size=1073741824,"
                                                       "read-zeroes=on",
                                                       i)});
        }
    }
    for (const std::string& device : devices) {
        arguments.insert(arguments.end(), {"-device", device});
    }
    return arguments;
}

}  // namespace hotplug
