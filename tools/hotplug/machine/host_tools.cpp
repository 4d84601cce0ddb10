// SPDX-License-Identifier: GPL-2.0
// Purpose: see host_tools.h.
// Thread: see host_tools.h.
#include "hotplug/machine/host_tools.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <fstream>

#include "hotplug/base/parts.h"

namespace hotplug {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds query_deadline{60};
constexpr const char* qemu_name = "qemu-system-x86_64";

// The QEMU of a Debian root that was only unpacked: its own loader, libraries, modules and
// firmware.
Command qemu_of_root(const fs::path& root) {
    fs::path libraries = root / "usr/lib/x86_64-linux-gnu";
    Command command;
    command.argv = {
        root / "lib64/ld-linux-x86-64.so.2",
        "--library-path",
        libraries,
        root / "usr/bin" / qemu_name,
        "-L",
        root / "usr/share/qemu",
        "-L",
        root / "usr/share/seabios",
    };
    command.environment["QEMU_MODULE_DIR"] = libraries / "qemu";
    return command;
}

Command with_argument(Command command, std::vector<std::string> arguments) {
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    return command;
}

// Asks a QEMU what it is; fails when it is not good enough.
hp::Result<QemuCommand> examine(const Command& command) {
    Deadline deadline = Deadline::after(query_deadline);
    auto text = run_and_capture(with_argument(command, {"--version"}), deadline);
    if (!text) {
        return tl::unexpected(text.error());
    }
    auto version = parse_qemu_version(*text);
    if (!version) {
        return tl::unexpected(version.error());
    }
    if (*version < oldest_usable_qemu) {
        return hp::fail(fmt::format("it is {}, {} or newer is needed", version->text(),
                                    oldest_usable_qemu.text()));
    }
    auto devices =
        run_and_capture(with_argument(command, {"-machine", "none", "-device", "help"}), deadline);
    if (!devices) {
        return tl::unexpected(devices.error());
    }
    if (devices->find("\"vfio-user-pci\"") == std::string::npos) {
        return hp::fail("it was built without the device vfio-user-pci");
    }
    return QemuCommand{command, *version, text->substr(0, text->find('\n')), {}};
}

hp::Result<QemuCommand> examine_root(const fs::path& root) {
    auto found = examine(qemu_of_root(root));
    if (!found) {
        return hp::fail(fmt::format(
            "the QEMU of {} cannot be used: {}; name another Debian root by --toolroot or "
            "$HP_TOOLROOT",
            root.string(), found.error().message));
    }
    found->packages = root / ".packages";
    return found;
}

}  // namespace

std::string QemuVersion::text() const {
    return fmt::format("{}.{}.{}", major, minor, micro);
}

hp::Result<QemuVersion> parse_qemu_version(std::string_view text) {
    std::string_view line = text.substr(0, text.find('\n'));
    constexpr std::string_view prefix = "QEMU emulator version ";
    if (line.starts_with(prefix)) {
        const char* at = line.data() + prefix.size();
        const char* end = line.data() + line.size();
        int parts[3] = {};
        bool good = true;
        for (int i = 0; i < 3 && good; ++i) {
            if (i > 0) {
                good = at != end && *at++ == '.';
            }
            auto [next, error] = std::from_chars(at, end, parts[i]);
            good = good && error == std::errc();
            at = next;
        }
        if (good) {
            return QemuVersion{parts[0], parts[1], parts[2]};
        }
    }
    return hp::fail(fmt::format("not a QEMU version: '{}'", line));
}

hp::Result<QemuCommand> find_qemu(const std::optional<fs::path>& toolroot) {
    if (toolroot) {
        return examine_root(*toolroot);
    }
    auto host = examine(Command{{qemu_name}, {}});
    if (host) {
        return host;
    }
    if (const char* root = std::getenv("HP_TOOLROOT"); root && *root) {
        return examine_root(root);
    }
    return hp::fail(fmt::format(
        "the host's {} cannot be used: {}; name a Debian root with a newer QEMU by --toolroot or "
        "$HP_TOOLROOT",
        qemu_name, host.error().message));
}

std::vector<std::string> read_packages(const fs::path& list) {
    std::vector<std::string> packages;
    std::ifstream in(list);
    for (std::string line; std::getline(in, line);) {
        packages.push_back(line);
    }
    return packages;
}

hp::Result<fs::path> find_emulator(const std::optional<fs::path>& explicit_path) {
    const auto program = explicit_path ? hp::Result<fs::path>(fs::absolute(*explicit_path))
                                       : Parts::of_this_program().find(Part::emulator);
    if (!program) {
        return program;
    }
    std::error_code error;
    if (!fs::is_regular_file(*program, error) || ::access(program->c_str(), X_OK) != 0) {
        return hp::fail(
            fmt::format("no emulator at {}: build it ('make tools'), or name amdgpu-emu by "
                        "--emulator or $HP_EMULATOR",
                        program->string()));
    }
    return program;
}

}  // namespace hotplug
