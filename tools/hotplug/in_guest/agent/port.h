// SPDX-License-Identifier: GPL-2.0
// Purpose: finds and opens the virtio-serial port by the name QEMU gave it.
// Thread: start-up only.
#pragma once

#include <chrono>
#include <filesystem>
#include <string_view>

#include "lib/fd.h"
#include "lib/result.h"

namespace hp::agent {

/// The device node of the port with that name, if there is one yet. `root` is "/" but in tests.
Result<std::filesystem::path> find_port(const std::filesystem::path& root, std::string_view name);

/// Waits for the port: the driver names it a moment after the device appears.
Result<Fd> open_port(const std::filesystem::path& root, std::string_view name,
                     std::chrono::milliseconds patience);

}  // namespace hp::agent
