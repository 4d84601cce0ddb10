// SPDX-License-Identifier: GPL-2.0
// Purpose: finds the programs the harness drives: a QEMU that has vfio-user-pci, and the emulator.
// Thread: any; no state.
#pragma once

#include <compare>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hotplug/base/child_process.h"
#include "lib/result.h"

namespace hotplug {

struct QemuVersion {
    int major = 0;
    int minor = 0;
    int micro = 0;

    auto operator<=>(const QemuVersion&) const = default;
    std::string text() const;
};

/// vfio-user-pci, the client side of vfio-user, came with this one.
inline constexpr QemuVersion oldest_usable_qemu{10, 1, 0};

/// How a QEMU is started.
struct QemuCommand {
    Command command;  // without any option of a machine
    QemuVersion version;
    std::string version_line;        // as printed, with the distribution's package version
    std::filesystem::path packages;  // list of the Debian root it is of; empty: it is the host's
};

/// From the first line of `qemu-system-x86_64 --version`.
hp::Result<QemuVersion> parse_qemu_version(std::string_view text);

/// The QEMU of `toolroot` when one is given, else the host's when it is recent enough and has
/// vfio-user-pci, else that of the Debian root named by $HP_TOOLROOT. The error says what is
/// missing and what to do.
hp::Result<QemuCommand> find_qemu(const std::optional<std::filesystem::path>& toolroot);

/// The lines of a list of packages as scripts/guest/deb-root leaves it; none when there is no list,
/// as for what a user brought along.
std::vector<std::string> read_packages(const std::filesystem::path& list);

/// `explicit_path` when given, else Part::emulator. Fails when it is no program.
hp::Result<std::filesystem::path> find_emulator(
    const std::optional<std::filesystem::path>& explicit_path);

}  // namespace hotplug
