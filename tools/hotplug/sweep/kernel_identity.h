// SPDX-License-Identifier: GPL-2.0
// Purpose: what a kernel is, whatever its path: two of the same content are one, and one that was
// rebuilt is another. Thread: functions that read files.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "lib/result.h"

namespace hotplug {

/// A number of the files' content, in hexadecimal: 64 bits of FNV-1a for each file, in their order.
/// Tells apart what was built anew, not what somebody forges. Fails when a file cannot be read.
hp::Result<std::string> content_key(std::span<const std::filesystem::path> files);

/// The files that are the kernel under test: its image, and amdgpu.ko of the tree it was built in.
/// Where there is no such tree the module is in the guest image.
hp::Result<std::string> kernel_identity(const std::filesystem::path& image,
                                        const std::filesystem::path& tree,
                                        const std::filesystem::path& guest_image);

}  // namespace hotplug
