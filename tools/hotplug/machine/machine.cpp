// SPDX-License-Identifier: GPL-2.0
// Purpose: see machine.h.
// Thread: see machine.h.
#include "hotplug/machine/machine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "hotplug/base/log_tail.h"
#include "hotplug/machine/host_memory.h"
#include "hotplug/machine/pcie_switch.h"
#include "hotplug/machine/qemu_arguments.h"

namespace hotplug {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds poll_interval{100};
// Of the agent in a guest with so many GPUs that are being probed: its account of the machine gets
// longer with each, and waits for locks that a probe holds.
constexpr std::chrono::seconds progress_deadline{30};
constexpr size_t answer_gpus = 2;
constexpr std::chrono::seconds quit_grace{5};
// With KVM the agent is there after seconds; a KVM that cannot run this kernel may say nothing.
constexpr std::chrono::seconds kvm_boot_deadline{60};
// Between the end of QEMU's connections and the end of its process.
constexpr std::chrono::seconds end_grace{3};
// Below this amdgpu's GTT and the guest's image do not fit side by side.
constexpr unsigned least_memory_mib = 2048;

hp::Result<void> check_readable(const char* what, const fs::path& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error) || ::access(path.c_str(), R_OK) != 0) {
        return hp::fail(fmt::format("{} '{}' is not a readable file", what, path.string()));
    }
    return {};
}

hp::Result<void> check_config(const MachineConfig& config) {
    if (auto readable = check_readable("the kernel", config.kernel); !readable) {
        return readable;
    }
    if (auto readable = check_readable("the initrd", config.initrd); !readable) {
        return readable;
    }
    const size_t most_slots = config.behind_switch ? max_switch_slots : GpuSlot::max_slots;
    if (config.slots.size() > most_slots) {
        return hp::fail(
            fmt::format("{} slots asked for, {} is the most", config.slots.size(), most_slots));
    }
    if (config.memory_mib < least_memory_mib) {
        return hp::fail(fmt::format("{} MiB of memory asked for, {} is the least",
                                    config.memory_mib, least_memory_mib));
    }
    if (config.iommu && config.behind_switch) {
        return hp::fail(
            "--iommu and --switch do not go together: GPUs behind a switch would reach each other "
            "by addresses that no IOMMU has translated");
    }
    if (auto fits = check_memory(config); !fits) {
        return fits;
    }
    if (config.accelerator == Accelerator::kvm && ::access("/dev/kvm", R_OK | W_OK) != 0) {
        return hp::fail("KVM asked for, but /dev/kvm cannot be opened: use TCG, or join group kvm");
    }
    if (config.accelerator == Accelerator::kvm && config.count_instructions) {
        return hp::fail("instructions can be counted under TCG only");
    }
    std::error_code error;
    fs::create_directories(config.log_dir, error);
    if (error) {
        return hp::fail(
            fmt::format("cannot make {}: {}", config.log_dir.string(), error.message()));
    }
    return {};
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// Connects to a server that is starting, in short turns: one that ended is noticed before the
// deadline.
template <typename Connect>
auto connect_while_alive(Machine& machine, Deadline deadline, Connect connect)
    -> decltype(connect(deadline)) {
    while (true) {
        auto connection = connect(deadline.within(std::chrono::milliseconds(500)));
        if (connection) {
            return connection;
        }
        if (auto alive = machine.check_alive(); !alive) {
            return tl::unexpected(alive.error());
        }
        if (deadline.expired()) {
            return connection;
        }
    }
}

std::chrono::milliseconds since(Deadline::Clock::time_point start) {
    return std::chrono::round<std::chrono::milliseconds>(Deadline::Clock::now() - start);
}

}  // namespace

const char* name(Accelerator accelerator) {
    return accelerator == Accelerator::kvm ? "kvm" : "tcg";
}

hp::Result<std::unique_ptr<Machine>> Machine::start(MachineConfig config) {
    if (auto good = check_config(config); !good) {
        return tl::unexpected(good.error());
    }
    auto sockets = TemporaryDirectory::make();
    if (!sockets) {
        return tl::unexpected(sockets.error());
    }
    std::unique_ptr<Machine> machine(new Machine(std::move(config), std::move(*sockets)));
    if (auto booted = machine->boot(); !booted) {
        return tl::unexpected(machine->explain(booted.error()));
    }
    return machine;
}

Machine::~Machine() {
    (void)stop();  // whoever wants to know how it ends has stopped it before
}

hp::Result<void> Machine::stop() {
    if (qmp_ && qemu_ && !qemu_->poll()) {
        qmp_->quit();
        qemu_->wait(Deadline::for_cleanup(quit_grace));
    }
    if (qemu_) {
        qemu_->terminate(quit_grace);
    }
    hp::Result<void> result;
    for (auto& slot : slots_) {
        if (auto stopped = slot->stop(); !stopped) {
            result = stopped;
        }
    }
    return result;
}

hp::Result<void> Machine::boot() {
    const bool kvm = config_.accelerator == Accelerator::kvm;
    Deadline deadline = Deadline::after(kvm ? std::min(config_.boot_deadline, kvm_boot_deadline)
                                            : config_.boot_deadline);
    auto begin = Deadline::Clock::now();
    if (auto started = start_emulators(deadline); !started) {
        return started;
    }
    if (auto started = start_qemu(); !started) {
        return started;
    }
    if (auto connected = connect_qemu(deadline); !connected) {
        return connected;
    }
    const auto& first_word = config_.console_deadline;
    auto hello = agent_->wait_hello(first_word ? deadline.within(*first_word) : deadline);
    if (!hello && first_word && !last_line(console_log()).empty()) {
        hello = agent_->wait_hello(deadline);
    }
    if (!hello) {
        return hp::fail(fmt::format("{}{}; the guest's console ends with '{}' (see {})",
                                    hello.error().message,
                                    kvm ? " under KVM (--accel tcg needs none)" : "",
                                    last_line(console_log()), console_log().string()));
    }
    hello_ = *hello;
    time_to_agent_ = since(begin);
    if (!config_.load_driver) {
        return {};
    }
    deadline = Deadline::after(config_.probe_deadline);
    for (auto& slot : slots_) {
        if (!slot->has_gpu()) {
            continue;
        }
        if (auto ready = wait_device_ready(*slot, deadline); !ready) {
            return ready;
        }
    }
    time_to_driver_ = since(begin);
    return arm_black_holes();
}

hp::Result<void> Machine::start_emulators(Deadline deadline) {
    GpuSlot::Environment environment{config_.emulator, sockets_.path(), config_.log_dir,
                                     config_.behind_switch};
    for (size_t i = 0; i < config_.slots.size(); ++i) {
        slots_.push_back(
            std::make_unique<GpuSlot>(static_cast<unsigned>(i), config_.slots[i], environment));
        if (auto started = slots_.back()->start_emulators(config_.largest_vram_mib, deadline);
            !started) {
            return started;
        }
    }
    return {};
}

hp::Result<void> Machine::start_qemu() {
    std::vector<std::string> devices;
    if (config_.behind_switch) {
        devices = switch_devices(slots_.size());
    }
    for (auto& slot : slots_) {
        auto own = slot->qemu_devices(slots_.size());
        devices.insert(devices.end(), own.begin(), own.end());
    }
    Command command = config_.qemu.command;
    command.oom_score_adj = first_to_be_killed;
    auto arguments = qemu_arguments(config_, sockets_.path(), devices);
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    auto child = ChildProcess::start(command, qemu_log());
    if (!child) {
        return tl::unexpected(child.error());
    }
    qemu_ = std::make_unique<ChildProcess>(std::move(*child));
    return {};
}

hp::Result<void> Machine::connect_qemu(Deadline deadline) {
    auto qmp = connect_while_alive(*this, deadline, [&](Deadline turn) {
        return QmpClient::connect(sockets_.path() / "qmp", qmp_log(), turn);
    });
    if (!qmp) {
        return tl::unexpected(qmp.error());
    }
    qmp_ = std::move(*qmp);
    auto qtest = QtestClient::connect(sockets_.path() / "qtest", deadline);
    if (!qtest) {
        return tl::unexpected(qtest.error());
    }
    qtest_ = std::move(*qtest);
    for (auto& slot : slots_) {
        slot->attach(*qmp_, *qtest_);
    }
    auto agent = AgentClient::connect(sockets_.path() / "agent", deadline);
    if (!agent) {
        return tl::unexpected(agent.error());
    }
    agent_ = std::move(*agent);
    return {};
}

bool Machine::guest_ended() const {
    return qmp_ && qmp_->find_event(0, [](const QmpEvent& event) {
        return event.name == "SHUTDOWN" && event.data.value("guest", false);
    });
}

hp::Result<void> Machine::check_alive() {
    if (qemu_) {
        if (auto status = qemu_->poll()) {
            if (guest_ended()) {
                return hp::fail(fmt::format(
                    "the guest reset itself, as a kernel panic does; its console ends with '{}' "
                    "(see {})",
                    last_line(console_log()), console_log().string()));
            }
            return hp::fail(fmt::format("QEMU ended with {}: {} (see {})", status->describe(),
                                        last_line(qemu_log()), qemu_log().string()));
        }
    }
    for (auto& slot : slots_) {
        for (EmulatorProcess* emulator : {slot->gpu_process(), slot->hole_process()}) {
            if (!emulator) {
                continue;
            }
            if (auto alive = emulator->check_alive(); !alive) {
                return alive;
            }
        }
    }
    return {};
}

hp::Error Machine::explain(hp::Error error) {
    if (qemu_ && agent_ && !agent_->connected()) {
        qemu_->wait(Deadline::for_cleanup(end_grace));
    }
    auto alive = check_alive();
    if (alive || error.message.starts_with(alive.error().message)) {
        return error;
    }
    return hp::Error{fmt::format("{}: {}", alive.error().message, error.message)};
}

hp::Result<void> Machine::arm_black_holes() {
    std::vector<GpuSlot*> displaced;
    for (auto& slot : slots_) {
        auto moved = slot->black_hole_displaced();
        if (!moved) {
            return tl::unexpected(moved.error());
        }
        if (*moved) {
            displaced.push_back(slot.get());
        }
    }
    if (displaced.empty()) {
        return {};
    }
    if (auto stopped = qmp_->execute("stop"); !stopped) {
        return tl::unexpected(stopped.error());
    }
    auto laid = lay_black_holes(displaced);
    if (auto going = qmp_->execute("cont"); !going) {
        return tl::unexpected(going.error());
    }
    return laid;
}

hp::Result<void> Machine::lay_black_holes(const std::vector<GpuSlot*>& displaced) {
    std::vector<SlotPort*> ports;
    for (auto& slot : slots_) {
        ports.push_back(&slot->port());
    }
    for (GpuSlot* slot : displaced) {
        if (auto laid = slot->lay_black_hole(ports); !laid) {
            return laid;
        }
    }
    return {};
}

hp::Result<DeviceProgress> Machine::device_progress(GpuSlot& slot) {
    const std::string devices = "/sys/bus/pci/devices";
    Deadline deadline =
        Deadline::after(progress_deadline * std::max<size_t>(1, slots_.size() / answer_gpus));
    DeviceProgress progress;
    auto bdf = slot.bdf();
    if (!bdf) {
        return tl::unexpected(bdf.error());
    }
    auto names = agent_->list(devices, deadline);
    if (!names) {
        return tl::unexpected(names.error());
    }
    progress.enumerated = contains(*names, *bdf);
    if (!progress.enumerated) {
        return progress;
    }
    auto entries = agent_->list(devices + "/" + *bdf, deadline);
    if (!entries) {
        auto again = agent_->list(devices, deadline);
        bool left_meanwhile = again && !contains(*again, *bdf);
        return left_meanwhile ? hp::Result<DeviceProgress>(DeviceProgress{})
                              : tl::unexpected(entries.error());
    }
    progress.bound = contains(*entries, "driver");
    progress.ready = progress.bound;
    if (progress.bound && slot.config().device == SlotDevice::nvme) {
        // The driver scans for its disk after probe() returned.
        auto disks = agent_->list("/sys/block", deadline);
        if (!disks) {
            return tl::unexpected(disks.error());
        }
        progress.ready = std::any_of(disks->begin(), disks->end(), [](const std::string& name) {
            return name.starts_with("nvme");
        });
    }
    if (progress.bound && slot.has_gpu()) {
        auto state = agent_->state(deadline);
        if (!state) {
            return tl::unexpected(state.error());
        }
        progress.ready = state->gpu_ready(*bdf);
    }
    return progress;
}

hp::Result<void> Machine::wait_device_ready(GpuSlot& slot, Deadline deadline) {
    while (true) {
        auto progress = device_progress(slot);
        if (!progress) {
            return tl::unexpected(progress.error());
        }
        if (progress->ready) {
            return {};
        }
        if (deadline.expired()) {
            const char* missing = !progress->enumerated ? "to be found by the guest"
                                  : !progress->bound    ? "to be bound to a driver"
                                                        : "to have a render node and a KFD node";
            return hp::fail(
                deadline.missed(fmt::format("the board in slot {} {}", slot.index(), missing)));
        }
        deadline.pause(poll_interval);
    }
}

}  // namespace hotplug
