// SPDX-License-Identifier: GPL-2.0
// Purpose: one hot-plug slot of the machine: its port, what is plugged into it, the emulator
// behind that and the black hole under its BARs. Gives the host's half of every plug event; the
// guest's half is in loss/. Thread: one at a time per machine. Not modelled: a second function of
// a board that is there when the machine starts; more than two.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "hotplug/base/deadline.h"
#include "hotplug/machine/black_hole.h"
#include "hotplug/machine/emulator_process.h"
#include "hotplug/machine/qmp_client.h"
#include "hotplug/machine/qtest_client.h"
#include "hotplug/machine/slot_port.h"
#include "hotplug/values/accesses.h"
#include "hotplug/values/replacement.h"
#include "lib/result.h"

namespace hotplug {

/// nvme and edu are QEMU's own devices, the controls a removal time or a latency is compared with.
enum class SlotDevice { empty, gpu, nvme, edu };

/// The board put into a slot.
struct SlotConfig {
    SlotDevice device = SlotDevice::gpu;
    GpuOptions gpu;  // for SlotDevice::gpu
};

class GpuSlot {
public:
    /// What all slots of a machine share.
    struct Environment {
        std::filesystem::path emulator;
        std::filesystem::path socket_dir;
        std::filesystem::path log_dir;
        bool behind_switch = false;  // see pcie_switch.h
    };

    /// What the 32-bit window of the machine has room for, not what pcie.0 has numbers for: see
    /// gpu_slot.cpp.
    static constexpr unsigned max_slots = 32;

    GpuSlot(unsigned index, SlotConfig config, Environment environment)
        : index_(index), config_(std::move(config)), environment_(std::move(environment)) {}

    unsigned index() const { return index_; }
    const SlotConfig& config() const { return config_; }
    bool has_gpu() const { return config_.device == SlotDevice::gpu; }
    bool plugged() const { return plugged_; }

    /// "rp0": the port's id in QEMU.
    std::string port_id() const { return "rp" + std::to_string(index_); }
    /// "gpu0", then "gpu0-1" after the first replug: an id names one board.
    std::string device_id() const;
    /// The name of the slot below /sys/bus/pci/slots.
    std::string slot_name() const { return std::to_string(index_ + 1); }
    /// "0000:01:00.0": the address the guest gave the board, from the port's secondary bus number.
    hp::Result<std::string> bdf();

    SlotPort& port() { return *port_; }
    /// Only where has_gpu().
    EmulatorClient& emulator() { return gpu_->control(); }
    EmulatorClient& black_hole() { return hole_->control(); }
    /// Null in a slot without GPU.
    EmulatorProcess* gpu_process() { return gpu_.get(); }
    EmulatorProcess* hole_process() { return hole_.get(); }

    // Start of the machine: the emulators first, QEMU connects to them, then attach().
    hp::Result<void> start_emulators(uint64_t largest_vram_mib, Deadline deadline);
    void attach(QmpClient& qmp, QtestClient& qtest);
    /// QEMU's -device objects (JSON) of this slot: port, board, black hole. `slots`: how many
    /// the machine has.
    std::vector<std::string> qemu_devices(size_t slots) const;

    /// The board's addresses are not (any more) those the black hole lies under.
    hp::Result<bool> black_hole_displaced();
    /// Lays the black hole under the board; `ports` are all of the machine's. The guest's CPUs must
    /// be stopped.
    hp::Result<void> lay_black_hole(const std::vector<SlotPort*>& ports);

    /// Ends the emulators; fails when one did not end well.
    hp::Result<void> stop();

    /// Makes the emulator ready for a replug: a new process as `replacement` asks for, else a cold
    /// reset of this one.
    hp::Result<void> prepare_board(const Replacement& replacement, Deadline deadline);
    /// Puts the board in, and nobody presses the button: the guest sees presence and link only. Its
    /// reaction is not waited for; its CPUs are stopped for a moment.
    hp::Result<void> plug();
    /// QMP device_del: presses the attention button.
    hp::Result<void> press_button();
    /// When QEMU let go of the board (DEVICE_DELETED); nothing while it has not.
    std::optional<Deadline::Clock::time_point> deleted();

    /// Starts a new count: the accesses up to now are not those after the coming loss.
    hp::Result<void> reset_counters();
    hp::Result<AbsentAccesses> absent_accesses();
    /// Of all boards that the slot has held since the machine started; none in a slot without GPU.
    hp::Result<StrayDma> stray_dma();
    /// All accesses to the GPU's BARs since then, before the loss and after it.
    hp::Result<uint64_t> accesses();

private:
    EmulatorSpec spec(const std::string& name, const GpuOptions& gpu) const;
    nlohmann::json board() const;
    nlohmann::json second_function() const;
    nlohmann::json port_object() const;

    unsigned index_;
    SlotConfig config_;
    Environment environment_;
    unsigned generation_ = 0;
    bool plugged_ = false;
    std::optional<SecondFunction> second_function_;
    StrayDma stray_dma_before_;  // of the boards before this one
    QmpClient* qmp_ = nullptr;
    std::unique_ptr<EmulatorProcess> gpu_;
    std::unique_ptr<EmulatorProcess> hole_;
    std::unique_ptr<SlotPort> port_;
    std::unique_ptr<BlackHole> black_hole_;
};

}  // namespace hotplug
