// SPDX-License-Identifier: GPL-2.0
// Purpose: the options of amdgpu-emu, and what of them goes together.
// Thread: one; start-up.
#include "gpu-emu/cli/emulator_options.h"

#include <fmt/format.h>

#include <bit>
#include <chrono>
#include <stdexcept>

#include "gpu-emu/peers/switch_port.h"
#include "gpu-emu/profiles/profile.h"
#include "lib/serial_number.h"

namespace gpuemu {
namespace {

/// Its place behind the switch, and in the hive of the profile.
void seat(Profile& profile, const EmulatorOptions& options) {
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
Profile chosen_profile(const EmulatorOptions& options) {
    const Profile* known = find_profile(options.profile);
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
    if (!options.serial.empty()) {
        const auto serial = hp::parse_serial(options.serial);
        if (!serial) {
            throw std::runtime_error("--serial: " + serial.error().message);
        }
        if (options.black_hole) {
            throw std::runtime_error("--serial is for GPUs");
        }
        profile.serial = *serial;
        profile.product.serial = fmt::format("{:016X}", *serial);
    }
    for (const std::string& name : options.opposites) {
        const auto opposite = parse_opposite(name);
        if (!opposite) {
            throw std::runtime_error("--opposite: there is no '" + name +
                                     "'; --list-opposites names them");
        }
        profile.opposites.add(*opposite);
    }
    seat(profile, options);
    return profile;
}

}  // namespace

void declare(CLI::App& app, EmulatorOptions& options) {
    app.add_option("--profile", options.profile, "GPU to emulate, see --list-profiles");
    app.add_option("--socket", options.socket, "vfio-user socket for QEMU to connect to");
    app.add_option("--control", options.control, "control socket (JSON lines)");
    app.add_option("--trace", options.trace, "write every access to this file");
    app.add_option("--eeprom", options.eeprom, "keep the RAS EEPROM in this file between runs");
    app.add_option("--vram-mib", options.vram_mib, "VRAM in MiB, a power of two")
        ->check(CLI::Range(1, 1 << 24));
    app.add_option(
           "--vram-bar", options.vram_bar,
           "mapped: the guest accesses VRAM directly; trapped: every access is seen, and slow")
        ->check(CLI::IsMember({"mapped", "trapped"}))
        ->capture_default_str();
    app.add_option(
           "--tlb", options.tlb,
           "on: translations are used until the driver invalidates them; checked: and the "
           "status counts those that the page tables do not have any more; off: every access "
           "walks the tables")
        ->check(CLI::IsMember({"on", "checked", "off"}))
        ->capture_default_str();
    app.add_option("--opposite", options.opposites,
                   "do the opposite of what the model assumes of the hardware, see "
                   "--list-opposites; may be repeated")
        ->allow_extra_args(false);
    app.add_option("--device-id", options.device_id, "PCI device id instead of the profile's");
    app.add_option(
        "--serial", options.serial,
        "serial number of the board, up to 64 bits: its Device Serial Number on PCI, the "
        "driver's unique_id and serial_number");
    app.add_option("--hive", options.hive,
                   "directory where the GPUs of an XGMI hive meet, for a profile with a hive");
    app.add_option("--switch", options.pcie_switch,
                   "directory where the GPUs behind one PCIe switch meet");
    app.add_option("--node", options.node,
                   "number of this GPU in its hive or behind its switch, from 0");
    app.add_option("--spin-us", options.spin_us,
                   "poll this long after an access before sleeping: faster, but uses a CPU")
        ->check(CLI::Range(0, 1'000'000))
        ->capture_default_str();
    app.add_option("--reset-ms", options.reset_ms,
                   "duration of a mode 1 reset or an FLR, during which nothing answers")
        ->check(CLI::Range(0, 10'000))
        ->capture_default_str();
    app.add_option("--log", options.log, "trace, debug, info, warning, error or off")
        ->capture_default_str();
    app.add_flag("--black-hole", options.black_hole,
                 "be no GPU, but the profile's BARs with nothing behind them");
    app.add_flag("--die-with-parent", options.die_with_parent,
                 "exit when the parent process exits");
    app.add_flag("--list-profiles", options.list_profiles, "list the profiles and exit");
    app.add_flag("--list-opposites", options.list_opposites,
                 "list what --opposite knows, and exit");
}

Board::Options board_options(const EmulatorOptions& options) {
    if (options.profile.empty() || options.socket.empty()) {
        throw std::runtime_error("--profile and --socket are needed; --help tells more");
    }
    return {.profile = chosen_profile(options),
            .socket = options.socket,
            .control = options.control,
            .trace = options.trace,
            .eeprom = options.eeprom,
            .hive = options.hive,
            .pcie_switch = options.pcie_switch,
            .node = options.node.value_or(0),
            .reset_time = std::chrono::milliseconds(options.reset_ms),
            .map_vram = options.vram_bar == "mapped",
            .tlb = options.tlb == "on"        ? Tlb::Use::on
                   : options.tlb == "checked" ? Tlb::Use::checked
                                              : Tlb::Use::off,
            .black_hole = options.black_hole};
}

}  // namespace gpuemu
