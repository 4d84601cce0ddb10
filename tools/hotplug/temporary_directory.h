// SPDX-License-Identifier: GPL-2.0
// Purpose: a folder for unix sockets, with a path short enough for them (sun_path has 108 bytes),
// removed at the end. Thread: one owner.
#pragma once

#include <filesystem>

#include "lib/result.h"

namespace hotplug {

class TemporaryDirectory {
public:
    /// hpctl-XXXXXX in $XDG_RUNTIME_DIR when that is usable, else in /tmp.
    static hp::Result<TemporaryDirectory> make();

    TemporaryDirectory(TemporaryDirectory&& other) noexcept;
    TemporaryDirectory& operator=(TemporaryDirectory&& other) noexcept;
    ~TemporaryDirectory();

    const std::filesystem::path& path() const { return path_; }

private:
    explicit TemporaryDirectory(std::filesystem::path path) : path_(std::move(path)) {}
    void remove();

    std::filesystem::path path_;
};

}  // namespace hotplug
