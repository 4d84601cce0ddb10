// SPDX-License-Identifier: GPL-2.0
// Purpose: the virtual machine under test: emulators, QEMU, the connections to them and to the
// agent in the guest. Exists while it runs; its destructor leaves no process and no socket behind.
// Thread: one at a time. Start it on a thread that outlives it: the kernel ends the child processes
// with the thread that started them (PR_SET_PDEATHSIG), which is also what ends QEMU when the
// harness is killed.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hotplug/base/child_process.h"
#include "hotplug/base/temporary_directory.h"
#include "hotplug/guest/agent_client.h"
#include "hotplug/machine/gpu_slot.h"
#include "hotplug/machine/host_clock.h"
#include "hotplug/machine/host_tools.h"
#include "hotplug/machine/qmp_client.h"
#include "hotplug/machine/qtest_client.h"
#include "lib/result.h"

namespace hotplug {

enum class Accelerator { tcg, kvm };
/// As QEMU and --accel call it.
const char* name(Accelerator accelerator);

struct MachineConfig {
    std::filesystem::path kernel;  // bzImage
    std::filesystem::path initrd;
    std::string extra_cmdline;
    unsigned memory_mib = 3072;
    unsigned cpus = 2;
    Accelerator accelerator = Accelerator::tcg;
    /// TCG only: the guest's clock advances by a nanosecond with each instruction, whatever the
    /// host does. Its CPUs share one thread.
    bool count_instructions = false;
    /// TCG only: what the guest is told of its clock (host_clock.h). 0: it has to find out.
    uint64_t tsc_khz = host_tsc_khz();
    std::vector<SlotConfig> slots = std::vector<SlotConfig>(2);
    /// All slots are behind one PCIe switch, with QEMU's edu beside them: see pcie_switch.h.
    bool behind_switch = false;
    /// An IOMMU translates what the GPUs do: each mapping of the driver is one of theirs, and ends
    /// with it. The kernel has to have Intel's driver.
    bool iommu = false;
    /// The largest board of a profile or a replug: the black holes are made to cover it.
    uint64_t largest_vram_mib = 4096;
    /// The guest's init loads amdgpu, after the agent is up.
    bool load_driver = true;
    QemuCommand qemu;                // see find_qemu()
    std::filesystem::path emulator;  // see find_emulator()
    /// Where console, QMP, QEMU and emulator logs and the traces go; created when missing.
    std::filesystem::path log_dir;
    /// From the start of QEMU to the agent's hello.
    std::chrono::seconds boot_deadline{120};
    /// When the boot has failed if nothing is on the console by then.
    std::optional<std::chrono::seconds> console_deadline;
    /// From there to the driver bound to every GPU; only with load_driver.
    std::chrono::seconds probe_deadline{180};
};

/// A board's way into use, seen from the guest's user space.
struct DeviceProgress {
    bool enumerated = false;  // in /sys/bus/pci/devices
    bool bound = false;       // it has a driver
    bool ready = false;  // GPU: and a render node and a KFD node; nvme: and a disk; else as bound
};

class Machine {
public:
    /// Boots the guest, when there is memory for it (host_memory.h). Returns when the agent is
    /// there, the driver is bound to every GPU (with load_driver) and the black holes lie under
    /// them. The error names what was awaited and shows the console's last line.
    static hp::Result<std::unique_ptr<Machine>> start(MachineConfig config);
    ~Machine();
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    const MachineConfig& config() const { return config_; }
    AgentClient& agent() { return *agent_; }
    QmpClient& qmp() { return *qmp_; }
    QtestClient& qtest() { return *qtest_; }
    size_t slot_count() const { return slots_.size(); }
    GpuSlot& slot(size_t index) { return *slots_.at(index); }

    /// Fails with the exit status and last words of QEMU or of an emulator that ended.
    hp::Result<void> check_alive();
    /// Ends QEMU and the emulators; fails when one of the latter did not end well. Nothing else may
    /// be asked for afterwards.
    hp::Result<void> stop();
    /// The guest has ended by itself: it reset, as a kernel panic makes it do, or powered off.
    bool guest_ended() const;
    /// `error`, and what check_alive() says when that is the reason.
    hp::Error explain(hp::Error error);

    /// Lays the black hole of each plugged slot under its GPU, the guest's CPUs stopped meanwhile
    /// when one has to move.
    hp::Result<void> arm_black_holes();
    /// How far the guest is with the board of `slot`.
    hp::Result<DeviceProgress> device_progress(GpuSlot& slot);
    /// Waits for DeviceProgress::ready.
    hp::Result<void> wait_device_ready(GpuSlot& slot, Deadline deadline);

    const AgentHello& hello() const { return hello_; }
    std::chrono::milliseconds time_to_agent() const { return time_to_agent_; }
    std::chrono::milliseconds time_to_driver() const { return time_to_driver_; }
    std::filesystem::path console_log() const { return config_.log_dir / "console.log"; }
    std::filesystem::path qmp_log() const { return config_.log_dir / "qmp.log"; }
    std::filesystem::path qemu_log() const { return config_.log_dir / "qemu.log"; }
    /// What the guest's memory comes to at most in a dump: dump_memory().
    uint64_t memory_bytes() const { return uint64_t(config_.memory_mib) << 20; }
    /// A unix socket with the guest's serial console and its shell.
    std::filesystem::path console_socket() const { return sockets_.path() / "console"; }

private:
    Machine(MachineConfig config, TemporaryDirectory sockets)
        : config_(std::move(config)), sockets_(std::move(sockets)) {}
    hp::Result<void> boot();
    hp::Result<void> start_emulators(Deadline deadline);
    hp::Result<void> start_qemu();
    hp::Result<void> connect_qemu(Deadline deadline);
    hp::Result<void> lay_black_holes(const std::vector<GpuSlot*>& displaced);

    MachineConfig config_;
    TemporaryDirectory sockets_;
    // In order of dependence: QEMU is a client of the emulators, the connections are clients of
    // QEMU.
    std::vector<std::unique_ptr<GpuSlot>> slots_;
    std::unique_ptr<ChildProcess> qemu_;
    std::unique_ptr<QmpClient> qmp_;
    std::unique_ptr<QtestClient> qtest_;
    std::unique_ptr<AgentClient> agent_;
    AgentHello hello_;
    std::chrono::milliseconds time_to_agent_{0};
    std::chrono::milliseconds time_to_driver_{0};
};

}  // namespace hotplug
