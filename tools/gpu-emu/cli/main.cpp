// SPDX-License-Identifier: GPL-2.0
// Purpose: amdgpu-emu, an emulated AMD GPU as a vfio-user device on a UNIX socket: reads the
// command line, puts the parts together, runs the device loop. Thread: main is the device loop; the
// trace has a writer thread.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <bit>
#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu-emu/board/gpu.h"
#include "gpu-emu/control/control_server.h"
#include "gpu-emu/device/engine_scheduler.h"
#include "gpu-emu/hostile/mutator.h"
#include "gpu-emu/loss/black_hole.h"
#include "gpu-emu/loss/loss_gate.h"
#include "gpu-emu/peers/hive_port.h"
#include "gpu-emu/peers/switch_port.h"
#include "gpu-emu/profiles/profile.h"
#include "gpu-emu/transport/vfio_user_server.h"
#include "gpu-emu/witness/access_trace.h"
#include "lib/clock.h"
#include "lib/event_loop.h"
#include "lib/log.h"

namespace {

using gpuemu::AccessTrace;
using gpuemu::BlackHole;
using gpuemu::ControlServer;
using gpuemu::EngineScheduler;
using gpuemu::Gpu;
using gpuemu::HivePort;
using gpuemu::LossGate;
using gpuemu::PciFunction;
using gpuemu::PeerTraffic;
using gpuemu::Profile;
using gpuemu::SwitchPort;
using gpuemu::VfioUserServer;

struct Options {
    std::string profile;
    std::string socket;
    std::string control;
    std::string trace;
    std::string eeprom;
    std::string hive;
    std::string pcie_switch;
    std::string log = "info";
    std::string vram_bar = "mapped";
    std::optional<uint64_t> vram_mib;
    std::optional<uint16_t> device_id;
    std::optional<unsigned> node;
    uint64_t spin_us = 0;
    bool black_hole = false;
    bool die_with_parent = false;
    bool list_profiles = false;
};

void declare(CLI::App& app, Options& options) {
    app.add_option("--profile", options.profile, "GPU to be, see --list-profiles");
    app.add_option("--socket", options.socket, "vfio-user socket for QEMU to connect to");
    app.add_option("--control", options.control, "control socket (JSON lines)");
    app.add_option("--trace", options.trace, "write every access to this file");
    app.add_option("--eeprom", options.eeprom, "keep the RAS EEPROM in this file between runs");
    app.add_option("--vram-mib", options.vram_mib, "VRAM in MiB, a power of two")
        ->check(CLI::Range(1, 1 << 24));
    app.add_option(
           "--vram-bar", options.vram_bar,
           "mapped: the guest reaches VRAM directly; trapped: every access is seen, and slow")
        ->check(CLI::IsMember({"mapped", "trapped"}))
        ->capture_default_str();
    app.add_option("--device-id", options.device_id, "PCI device id instead of the profile's");
    app.add_option(
        "--hive", options.hive,
        "directory in which the GPUs of an XGMI hive meet, for a profile that is in one");
    app.add_option("--switch", options.pcie_switch,
                   "directory in which the GPUs behind one PCIe switch meet");
    app.add_option("--node", options.node,
                   "which GPU of its hive or behind its switch it is, from 0");
    app.add_option("--spin-us", options.spin_us,
                   "after an access, look for the next one that long before sleeping: faster, and "
                   "takes a CPU")
        ->check(CLI::Range(0, 1'000'000))
        ->capture_default_str();
    app.add_option("--log", options.log, "trace, debug, info, warning, error or off")
        ->capture_default_str();
    app.add_flag("--black-hole", options.black_hole,
                 "no GPU: the profile's BARs with nothing behind them");
    app.add_flag("--die-with-parent", options.die_with_parent,
                 "end when the process that started this one ends");
    app.add_flag("--list-profiles", options.list_profiles, "name the profiles and exit");
}

/// Its place behind the switch, and in the hive of the profile.
void seat(Profile& profile, const Options& options) {
    const bool behind_switch = !options.pcie_switch.empty();
    if (behind_switch && options.black_hole) {
        throw std::runtime_error("--switch is for GPUs");
    }
    if (behind_switch && (!options.node || *options.node >= SwitchPort::max_nodes)) {
        throw std::runtime_error("--switch needs --node, less than " +
                                 std::to_string(SwitchPort::max_nodes));
    }
    if (!profile.hive.in_hive() || options.black_hole) {
        if (!options.hive.empty() || (options.node && !behind_switch)) {
            throw std::runtime_error(
                "--hive and --node are for GPUs of a profile that is in a hive");
        }
        return;
    }
    if (options.hive.empty() || !options.node) {
        throw std::runtime_error("profile " + profile.name + " needs --hive and --node");
    }
    if (*options.node >= profile.hive.nodes) {
        throw std::runtime_error("--node has to be less than " +
                                 std::to_string(profile.hive.nodes) + ", the size of the hive");
    }
    if (profile.vram_bytes > profile.hive.segment_bytes) {
        throw std::runtime_error("--vram-mib is more than the " +
                                 std::to_string(profile.hive.segment_bytes >> 20) +
                                 " that a GPU of the hive may have");
    }
    profile.hive.node = *options.node;
}

/// The profile asked for, with what the command line changes.
Profile chosen_profile(const Options& options) {
    const Profile* known = gpuemu::find_profile(options.profile);
    if (known == nullptr) {
        throw std::runtime_error("unknown profile '" + options.profile +
                                 "'; --list-profiles names them");
    }
    Profile profile = *known;
    if (options.device_id) {
        profile.device_id = *options.device_id;
    }
    if (options.vram_mib) {
        if (!std::has_single_bit(*options.vram_mib)) {
            throw std::runtime_error("--vram-mib has to be a power of two");
        }
        profile.vram_bytes = *options.vram_mib << 20;
    }
    seat(profile, options);
    return profile;
}

/// The kernel ends us with the parent; a parent that was faster than this call has given us another
/// one already.
void die_with_parent(pid_t parent) {
    if (::prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || ::getppid() != parent) {
        throw std::runtime_error("the parent process is gone");
    }
}

void list_profiles() {
    for (const Profile* profile : gpuemu::all_profiles()) {
        std::cout << profile->name << "\t" << profile->description << "\n";
    }
}

nlohmann::json describe(unsigned node, const std::vector<unsigned>& peers,
                        const PeerTraffic& traffic) {
    return {{"node", node},
            {"peers", peers},
            {"reads", traffic.reads},
            {"writes", traffic.writes},
            {"absent", traffic.absent}};
}

void run(const Options& options) {
    const Profile profile = chosen_profile(options);
    hp::EventLoop loop;
    const auto signals = loop.on_signals({SIGTERM, SIGINT}, [&](int) { loop.stop(); });
    EngineScheduler engines;
    loop.set_idle_work([&] { return engines.turn(); });
    loop.set_spin(std::chrono::microseconds(options.spin_us));

    std::optional<AccessTrace> trace;
    if (!options.trace.empty()) {
        trace.emplace(options.trace, profile.name);
    }
    std::optional<HivePort> hive;
    std::unique_ptr<Gpu> gpu;
    std::unique_ptr<PciFunction> black_hole;
    std::optional<SwitchPort> switch_port;
    if (profile.hive.in_hive() && !options.black_hole) {
        hive.emplace(loop, options.hive, profile.hive);
    }
    if (options.black_hole) {
        black_hole = std::make_unique<BlackHole>(profile);
    } else {
        gpu = std::make_unique<Gpu>(profile,
                                    Gpu::Options{.map_vram = options.vram_bar == "mapped",
                                                 .eeprom_path = options.eeprom,
                                                 .peers = hive ? &*hive : nullptr},
                                    engines);
    }
    if (hive) {
        hive->open(gpu->vram());
    }
    if (gpu && trace) {
        gpu->set_mutation_witness([&](const gpuemu::Mutation& mutation) {
            trace->record(gpuemu::trace_record(mutation, hp::monotonic_ns()));
        });
    }
    PciFunction& function = gpu ? static_cast<PciFunction&>(*gpu) : *black_hole;

    LossGate gate(function, engines, loop,
                  {.trace = trace ? &*trace : nullptr,
                   .on_vanish =
                       [&] {
                           if (gpu) {
                               gpu->fill_resident_vram_with_ones();
                           }
                       },
                   .on_presence =
                       [&](bool present) {
                           if (hive) {
                               hive->set_present(present);
                           }
                           if (switch_port) {
                               switch_port->set_present(present);
                           }
                       },
                   .on_restore =
                       [&] {
                           if (gpu) {
                               gpu->make_honest();
                           }
                       },
                   .config_survives = options.black_hole});
    if (options.black_hole) {
        gate.vanish();
    }
    if (!options.pcie_switch.empty()) {
        switch_port.emplace(gate, *gpu, loop, options.pcie_switch, *options.node);
        switch_port->open(gpu->vram());
    }
    if (gpu) {
        gpu->set_reset_witness([&] { gate.function_reset(); });
    }

    std::optional<ControlServer> control;
    if (!options.control.empty()) {
        ControlServer::Device device{.gate = gate,
                                     .trace = trace ? &*trace : nullptr,
                                     .profile = profile.name,
                                     .black_hole = options.black_hole,
                                     .register_name = {},
                                     .unknown_registers = {},
                                     .describe_engines = {},
                                     .inject = {},
                                     .interrupt = {},
                                     .shutdown = [&] { loop.stop(); }};
        device.register_name = [&](uint32_t dword) { return Gpu::register_name(profile, dword); };
        if (gpu) {
            device.unknown_registers = [&] { return gpu->registers().unknown_reads().size(); };
            device.describe_engines = [&] { return gpu->describe(); };
            device.inject = [&](const std::string& kind, const std::string& block,
                                const std::string& severity) {
                return gpu->inject(kind, block, severity);
            };
            device.interrupt = [&](const gpuemu::InterruptEntry& entry) { gpu->interrupt(entry); };
            device.notify_guest = [&](const std::string& what) { return gpu->notify_guest(what); };
            device.make_hostile = [&](uint64_t seed, std::span<const gpuemu::Surface> surfaces,
                                      uint64_t rate) {
                return gpu->make_hostile(seed, surfaces, rate);
            };
            device.mutations = [&] { return gpu->mutations(); };
            device.count_in_vram = [&](uint32_t word) { return gpu->vram().count_resident(word); };
        }
        if (hive) {
            device.hive = [&] {
                return describe(*options.node, hive->present_peers(), hive->traffic());
            };
        }
        if (switch_port) {
            device.pcie_switch = [&] {
                return describe(*options.node, switch_port->present_peers(),
                                switch_port->traffic());
            };
        }
        control.emplace(loop, options.control, std::move(device));
    }
    // Last: a harness that can connect to it finds all the rest at work.
    PciFunction& outermost = switch_port ? static_cast<PciFunction&>(*switch_port) : gate;
    const VfioUserServer server(loop, outermost, options.socket,
                                {.bar_delay = [&] { return gate.loss().delay(); }});
    hp::log::info("ready", {{"profile", profile.name}, {"socket", options.socket}});
    loop.run();
    hp::log::info("shut down");
}

}  // namespace

int main(int argc, char** argv) {
    const pid_t parent = ::getppid();
    Options options;
    CLI::App app("Emulated AMD GPU for QEMU's vfio-user-pci", "amdgpu-emu");
    declare(app, options);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 1;
    }
    try {
        if (options.list_profiles) {
            list_profiles();
            return 0;
        }
        if (options.profile.empty() || options.socket.empty()) {
            throw std::runtime_error("--profile and --socket are needed; --help tells more");
        }
        hp::log::set_up("amdgpu-emu", options.log);
        if (options.die_with_parent) {
            die_with_parent(parent);
        }
        run(options);
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "amdgpu-emu: " << error.what() << "\n";
        return 1;
    }
}
