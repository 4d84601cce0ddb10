// SPDX-License-Identifier: GPL-2.0
// Purpose: finds and opens the virtio-serial port by the name QEMU gave it.
// Thread: start-up only.
#include "hotplug/in_guest/agent/port.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

#include "hotplug/in_guest/agent/clock.h"

namespace hp::agent {

namespace fs = std::filesystem;

Result<fs::path> find_port(const fs::path& root, std::string_view name) {
    std::error_code error;
    fs::directory_iterator ports(root / "sys/class/virtio-ports", error);
    for (; !error && ports != fs::directory_iterator(); ports.increment(error)) {
        std::string found;
        std::getline(std::ifstream(ports->path() / "name"), found);
        if (found == name) {
            return root / "dev" / ports->path().filename();
        }
    }
    return fail("no virtio-serial port is named " + std::string(name));
}

Result<Fd> open_port(const fs::path& root, std::string_view name,
                     std::chrono::milliseconds patience) {
    // Polled: the guest's kernel need not have inotify, and a uevent may have come before anyone
    // listened.
    constexpr std::chrono::milliseconds pace{50};
    const auto deadline = Clock::now() + patience;
    for (;;) {
        auto path = find_port(root, name);
        if (path) {
            Fd port(::open(path->c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
            if (port) {
                return port;
            }
            path = fail("cannot open " + path->string() + ": " + std::strerror(errno));
        }
        if (Clock::now() >= deadline) {
            return tl::unexpected(path.error());
        }
        std::this_thread::sleep_for(pace);
    }
}

}  // namespace hp::agent
