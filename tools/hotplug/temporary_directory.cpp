// SPDX-License-Identifier: GPL-2.0
// Purpose: see temporary_directory.h.
// Thread: one owner.
#include "hotplug/temporary_directory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

namespace hotplug {

namespace {

// Longer, and a socket's name below hpctl-XXXXXX might not fit sun_path.
constexpr size_t max_parent = 64;

std::filesystem::path parent() {
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    bool usable =
        runtime && std::strlen(runtime) <= max_parent && ::access(runtime, W_OK | X_OK) == 0;
    return usable ? runtime : "/tmp";
}

}  // namespace

hp::Result<TemporaryDirectory> TemporaryDirectory::make() {
    std::string path = parent() / "hpctl-XXXXXX";
    if (!::mkdtemp(path.data())) {
        return hp::fail(fmt::format("cannot make {}: {}", path, std::strerror(errno)));
    }
    return TemporaryDirectory(path);
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryDirectory& TemporaryDirectory::operator=(TemporaryDirectory&& other) noexcept {
    if (this != &other) {
        remove();
        path_ = std::exchange(other.path_, {});
    }
    return *this;
}

TemporaryDirectory::~TemporaryDirectory() {
    remove();
}

void TemporaryDirectory::remove() {
    if (path_.empty()) {
        return;
    }
    std::error_code error;
    std::filesystem::remove_all(path_, error);
    if (error) {
        fmt::print(stderr, "hpctl: cannot remove {}: {}\n", path_.string(), error.message());
    }
}

}  // namespace hotplug
