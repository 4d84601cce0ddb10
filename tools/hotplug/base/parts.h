// SPDX-License-Identifier: GPL-2.0
// Purpose: where the parts of the project are that hpctl works with: beside it in a build folder
// and in the source tree of that, or where `make install` puts them. Thread: any; reads files.
#pragma once

#include <filesystem>

#include "lib/result.h"

namespace hotplug {

enum class Part {
    emulator,        ///< the program amdgpu-emu; $HP_EMULATOR
    guest_programs,  ///< folder of what is built for the guest, as scripts/guest/image wants it;
                     ///< $HP_TOOLS
    scenarios,       ///< folder with the scenarios and what is known of them; $HP_SCENARIOS
    image_script,    ///< scripts/guest/image, with the other scripts beside it; $HP_IMAGE_SCRIPT
    pool_trial,      ///< scripts/pooltrial; $HP_POOL_TRIAL
    pool_daemon,     ///< the program gpupoold; $HP_POOL_DAEMON
};

/// An installed tree has the halves of a checkout, what is text below PREFIX/share/amdgpu-hotplug
/// and what was built below PREFIX/libexec/amdgpu-hotplug, and in them each part in its place, but
/// for the programs of PREFIX/bin. tools/install.cmake puts them there.
class Parts {
public:
    /// `program`: absolute, without symbolic links; BUILD/FOLDER/NAME or PREFIX/bin/NAME.
    explicit Parts(const std::filesystem::path& program);
    static Parts of_this_program();

    /// Absolute: what the part's variable names when that is set and not empty, else the part of
    /// the program. Fails with the path and the variable when nothing is there.
    hp::Result<std::filesystem::path> find(Part part) const;

    /// It belongs to an installed tree, where nothing is to be written.
    bool installed(const std::filesystem::path& path) const;

private:
    std::filesystem::path prefix_;  ///< empty: it is a build folder
    std::filesystem::path text_;
    std::filesystem::path built_;
};

}  // namespace hotplug
