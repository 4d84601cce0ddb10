// SPDX-License-Identifier: GPL-2.0
// Purpose: a folder for unix sockets, with a path short enough for them (sun_path has 108 bytes),
// removed at the end; after a SIGKILL, by the next one that is made. Thread: one owner.
#pragma once

#include <filesystem>

#include "lib/fd.h"
#include "lib/result.h"

namespace hotplug {

class TemporaryDirectory {
public:
    /// hpctl-XXXXXX in $XDG_RUNTIME_DIR when that is usable, else in /tmp. Removes those there
    /// whose owners are dead.
    static hp::Result<TemporaryDirectory> make();

    TemporaryDirectory(TemporaryDirectory&& other) noexcept;
    TemporaryDirectory& operator=(TemporaryDirectory&& other) noexcept;
    ~TemporaryDirectory();

    const std::filesystem::path& path() const { return path_; }

private:
    TemporaryDirectory(std::filesystem::path path, hp::Fd lock)
        : path_(std::move(path)), lock_(std::move(lock)) {}
    void remove();

    std::filesystem::path path_;
    hp::Fd lock_;  // whoever gets it finds the owner dead
};

}  // namespace hotplug
