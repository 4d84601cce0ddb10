// SPDX-License-Identifier: GPL-2.0
// Purpose: one running amdgpu-emu, as a GPU or as a black hole, with its control connection.
// Thread: one owner; the control connection may be used from any thread.
// A GPU's process is never killed while QEMU is its client (QEMU 11.1 can abort then): stop it
// after the board was unplugged or QEMU has ended.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "hotplug/base/child_process.h"
#include "hotplug/base/deadline.h"
#include "hotplug/machine/emulator_client.h"
#include "lib/result.h"

namespace hotplug {

/// The board an emulator stands for.
struct GpuOptions {
    std::string profile = "mi300x";
    std::optional<uint16_t> device_id;     // instead of the profile's
    std::optional<uint64_t> vram_mib;      // instead of the profile's
    std::optional<uint64_t> serial{};      // of the board; it has none otherwise
    bool trace = true;                     // record every access
    std::vector<std::string> opposites{};  // of what the emulator assumes of the hardware
};

struct EmulatorSpec {
    std::string name;  // "gpu0", "hole0": names sockets and logs
    std::filesystem::path program;
    std::filesystem::path socket_dir;
    std::filesystem::path log_dir;
    GpuOptions gpu;
    /// In the hive, for profiles that are in one: the GPUs of a machine are one. And behind the
    /// switch.
    unsigned node = 0;
    bool behind_switch = false;
    bool black_hole = false;
    /// It ends with the harness; a pool's do not end with the daemon.
    bool die_with_parent = true;
};

/// The command line of amdgpu-emu for that board.
Command emulator_command(const EmulatorSpec& spec);
std::filesystem::path emulator_control_socket(const EmulatorSpec& spec);
std::filesystem::path emulator_device_socket(const EmulatorSpec& spec);

class EmulatorProcess {
public:
    /// Returns when the emulator listens on both sockets.
    static hp::Result<std::unique_ptr<EmulatorProcess>> start(EmulatorSpec spec, Deadline deadline);
    ~EmulatorProcess();

    EmulatorClient& control() { return *control_; }
    const EmulatorSpec& spec() const { return spec_; }
    pid_t pid() const { return process_.pid(); }
    std::filesystem::path vfio_user_socket() const;
    std::filesystem::path log() const;
    std::filesystem::path trace() const;
    /// Fails with its exit status and last words when it has ended.
    hp::Result<void> check_alive();
    /// Ends it in order. Fails when it ends otherwise, or had: a sanitizer may have found
    /// something.
    hp::Result<void> stop();

private:
    hp::Error ended_with(const ExitStatus& status) const;
    EmulatorProcess(EmulatorSpec spec, ChildProcess process)
        : spec_(std::move(spec)), process_(std::move(process)) {}

    EmulatorSpec spec_;
    ChildProcess process_;
    std::unique_ptr<EmulatorClient> control_;
};

}  // namespace hotplug
