// SPDX-License-Identifier: GPL-2.0
// Purpose: see parts.h.
// Thread: see parts.h.
#include "hotplug/base/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace hotplug {

namespace {

namespace fs = std::filesystem;

enum class Half { text, built };

struct Place {
    Part part;
    const char* what;
    const char* variable;
    Half half;
    const char* path;
    /// Below PREFIX, where it is not in its place of the half.
    const char* in_prefix;
};

constexpr Place places[] = {
    {Part::emulator, "emulator", "HP_EMULATOR", Half::built, "gpu-emu/cli/amdgpu-emu",
     "bin/amdgpu-emu"},
    {Part::guest_programs, "programs for the guest", "HP_TOOLS", Half::built, "", nullptr},
    {Part::scenarios, "scenarios", "HP_SCENARIOS", Half::text, "tools/hotplug/scenarios", nullptr},
    {Part::image_script, "script for guest images", "HP_IMAGE_SCRIPT", Half::text,
     "scripts/guest/image", nullptr},
    {Part::pool_trial, "trials of the pool", "HP_POOL_TRIAL", Half::text, "scripts/pooltrial",
     nullptr},
    {Part::pool_daemon, "daemon of the pool", "HP_POOL_DAEMON", Half::built, "gpupool/gpupoold",
     "bin/gpupoold"},
};

/// The folder that cmake was given, tools/ of the source tree; empty: `folder` is no build folder.
fs::path source_of_build(const fs::path& folder) {
    constexpr std::string_view key = "CMAKE_HOME_DIRECTORY:INTERNAL=";
    std::ifstream cache(folder / "CMakeCache.txt");
    for (std::string line; std::getline(cache, line);) {
        if (line.starts_with(key)) {
            return line.substr(key.size());
        }
    }
    return {};
}

}  // namespace

Parts::Parts(const fs::path& program) {
    const fs::path top = program.parent_path().parent_path();
    if (const fs::path source = source_of_build(top); !source.empty()) {
        text_ = source.parent_path();
        built_ = top;
    } else {
        prefix_ = top;
        text_ = top / "share/amdgpu-hotplug";
        built_ = top / "libexec/amdgpu-hotplug";
    }
}

Parts Parts::of_this_program() {
    // Fails without /proc only; then nothing is found, and find() says what.
    std::error_code error;
    return Parts(fs::read_symlink("/proc/self/exe", error));
}

hp::Result<fs::path> Parts::find(Part part) const {
    const Place& place = *std::find_if(std::begin(places), std::end(places),
                                       [&](const Place& each) { return each.part == part; });
    const char* named = std::getenv(place.variable);
    fs::path path = (place.half == Half::text ? text_ : built_) / place.path;
    if (named && *named) {
        path = fs::absolute(named);
    } else if (!prefix_.empty() && place.in_prefix) {
        path = prefix_ / place.in_prefix;
    }
    std::error_code error;
    if (!fs::exists(path, error)) {
        return hp::fail(fmt::format("no {}: there is no {}; build or install it, or name it by ${}",
                                    place.what, path.string(), place.variable));
    }
    return path;
}

bool Parts::installed(const fs::path& path) const {
    if (prefix_.empty()) {
        return false;
    }
    std::error_code error;
    const fs::path below = fs::weakly_canonical(path, error).lexically_relative(text_);
    return !error && !below.empty() && *below.begin() != "..";
}

}  // namespace hotplug
