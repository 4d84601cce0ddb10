// SPDX-License-Identifier: GPL-2.0
// Purpose: see emulator_process.h.
// Thread: see emulator_process.h.
#include "hotplug/machine/emulator_process.h"

#include <fmt/format.h>

#include "gpu-emu/profiles/profile.h"
#include "hotplug/base/log_tail.h"

namespace hotplug {

namespace {

constexpr std::chrono::seconds shutdown_grace{5};

std::filesystem::path trace_file(const EmulatorSpec& spec) {
    return spec.log_dir / (spec.name + ".trace");
}

/// False for a profile that nobody knows: the emulator says so.
bool in_hive(const std::string& profile) {
    const gpuemu::Profile* const known = gpuemu::find_profile(profile);
    return known != nullptr && known->hive.in_hive();
}

}  // namespace

std::filesystem::path emulator_control_socket(const EmulatorSpec& spec) {
    return spec.socket_dir / (spec.name + ".ctl");
}

std::filesystem::path emulator_device_socket(const EmulatorSpec& spec) {
    return spec.socket_dir / (spec.name + ".vfu");
}

Command emulator_command(const EmulatorSpec& spec) {
    Command command;
    command.argv = {spec.program,
                    "--profile",
                    spec.gpu.profile,
                    "--socket",
                    emulator_device_socket(spec),
                    "--control",
                    emulator_control_socket(spec)};
    command.oom_score_adj = first_to_be_killed;
    if (spec.die_with_parent) {
        command.argv.push_back("--die-with-parent");
    }
    if (spec.gpu.serial) {
        command.argv.insert(command.argv.end(),
                            {"--serial", fmt::format("{:#x}", *spec.gpu.serial)});
    }
    if (spec.gpu.vram_mib) {
        command.argv.insert(command.argv.end(), {"--vram-mib", std::to_string(*spec.gpu.vram_mib)});
    }
    if (spec.gpu.device_id) {
        command.argv.insert(command.argv.end(),
                            {"--device-id", fmt::format("{:#06x}", *spec.gpu.device_id)});
    }
    if (spec.gpu.trace) {
        command.argv.insert(command.argv.end(), {"--trace", trace_file(spec)});
    }
    if (spec.black_hole) {
        command.argv.push_back("--black-hole");
        return command;
    }
    for (const std::string& opposite : spec.gpu.opposites) {
        command.argv.insert(command.argv.end(), {"--opposite", opposite});
    }
    const bool hive = in_hive(spec.gpu.profile);
    if (hive) {
        command.argv.insert(command.argv.end(), {"--hive", spec.socket_dir});
    }
    if (spec.behind_switch) {
        command.argv.insert(command.argv.end(), {"--switch", spec.socket_dir});
    }
    if (hive || spec.behind_switch) {
        command.argv.insert(command.argv.end(), {"--node", std::to_string(spec.node)});
    }
    return command;
}

hp::Result<std::unique_ptr<EmulatorProcess>> EmulatorProcess::start(EmulatorSpec spec,
                                                                    Deadline deadline) {
    Command command = emulator_command(spec);
    // SIGTERM and not SIGKILL: on the harness's death the emulator still closes its socket in
    // order.
    auto child = ChildProcess::start(command, spec.log_dir / (spec.name + ".log"), SIGTERM);
    if (!child) {
        return tl::unexpected(child.error());
    }
    std::unique_ptr<EmulatorProcess> emulator(
        new EmulatorProcess(std::move(spec), std::move(*child)));
    // Short turns: an emulator that ended at once is noticed before the deadline.
    while (true) {
        auto control = EmulatorClient::connect(emulator_control_socket(emulator->spec_),
                                               fmt::format("the emulator {}", emulator->spec_.name),
                                               deadline.within(std::chrono::milliseconds(200)));
        if (control) {
            emulator->control_ = std::move(*control);
            break;
        }
        if (auto alive = emulator->check_alive(); !alive) {
            return tl::unexpected(alive.error());
        }
        if (deadline.expired()) {
            return tl::unexpected(control.error());
        }
    }
    // An answer means that its event loop runs; it made the device's socket before that.
    if (auto status = emulator->control_->status(); !status) {
        return tl::unexpected(status.error());
    }
    return emulator;
}

EmulatorProcess::~EmulatorProcess() {
    (void)stop();  // whoever wants to know how it ends has stopped it before
}

hp::Result<void> EmulatorProcess::stop() {
    if (control_ && !process_.poll()) {
        // Refused or not, the process's end is what counts, and terminate() sees to it.
        (void)control_->shutdown();
        process_.wait(Deadline::for_cleanup(shutdown_grace));
    }
    const ExitStatus status = process_.terminate(shutdown_grace);
    return status.ok() ? hp::Result<void>() : tl::unexpected(ended_with(status));
}

hp::Error EmulatorProcess::ended_with(const ExitStatus& status) const {
    return hp::Error{fmt::format("the emulator {} ended with {}: {} (see {})", spec_.name,
                                 status.describe(), last_line(log()), log().string())};
}

std::filesystem::path EmulatorProcess::vfio_user_socket() const {
    return emulator_device_socket(spec_);
}

std::filesystem::path EmulatorProcess::log() const {
    return spec_.log_dir / (spec_.name + ".log");
}

std::filesystem::path EmulatorProcess::trace() const {
    return trace_file(spec_);
}

hp::Result<void> EmulatorProcess::check_alive() {
    if (auto status = process_.poll()) {
        return tl::unexpected(ended_with(*status));
    }
    return {};
}

}  // namespace hotplug
