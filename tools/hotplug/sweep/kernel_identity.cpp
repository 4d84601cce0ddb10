// SPDX-License-Identifier: GPL-2.0
// Purpose: see kernel_identity.h.
// Thread: functions that read files.
#include "hotplug/sweep/kernel_identity.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <fstream>

namespace hotplug {

namespace fs = std::filesystem;

hp::Result<std::string> content_key(std::span<const fs::path> files) {
    std::string key;
    for (const fs::path& file : files) {
        std::ifstream in(file, std::ios::binary);
        uint64_t hash = 0xcbf29ce484222325;
        std::array<char, 65536> bytes;
        while (in.read(bytes.data(), bytes.size()) || in.gcount() > 0) {
            for (std::streamsize i = 0; i < in.gcount(); ++i) {
                hash = (hash ^ static_cast<unsigned char>(bytes[static_cast<size_t>(i)])) *
                       0x100000001b3;
            }
        }
        if (!in.is_open() || in.bad()) {
            return hp::fail(fmt::format("{}: cannot read", file.string()));
        }
        key += fmt::format("{}{:016x}", key.empty() ? "" : "-", hash);
    }
    return key;
}

hp::Result<std::string> kernel_identity(const fs::path& image, const fs::path& tree,
                                        const fs::path& guest_image) {
    const fs::path module = tree / "drivers/gpu/drm/amd/amdgpu/amdgpu.ko";
    std::error_code error;
    const fs::path files[] = {image, fs::is_regular_file(module, error) ? module : guest_image};
    return content_key(files);
}

}  // namespace hotplug
