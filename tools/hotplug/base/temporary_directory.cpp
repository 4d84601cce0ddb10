// SPDX-License-Identifier: GPL-2.0
// Purpose: see temporary_directory.h.
// Thread: one owner.
#include "hotplug/base/temporary_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace hotplug {

namespace {

// Longer, and a socket's name below hpctl-XXXXXX might not fit sun_path.
constexpr size_t max_parent = 64;
constexpr std::string_view prefix = "hpctl-";

std::filesystem::path parent() {
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    bool usable =
        runtime && std::strlen(runtime) <= max_parent && ::access(runtime, W_OK | X_OK) == 0;
    return usable ? runtime : "/tmp";
}

/// Locks a folder by a file in it; none when somebody else has it, or it is not of our making.
hp::Fd lock_folder(const std::filesystem::path& folder, int open_flags, int lock_flags) {
    const auto file = folder / ".lock";
    hp::Fd fd(::open(file.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | open_flags, 0600));
    return fd && ::flock(fd.get(), LOCK_EX | lock_flags) == 0 ? std::move(fd) : hp::Fd();
}

/// What killed harnesses left behind. A failure is no reason not to go on.
void remove_stale(const std::filesystem::path& folder) {
    std::error_code error;
    for (auto entry = std::filesystem::directory_iterator(folder, error);
         !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        if (!entry->path().filename().string().starts_with(prefix)) {
            continue;
        }
        if (const hp::Fd lock = lock_folder(entry->path(), 0, LOCK_NB)) {
            std::error_code busy;
            std::filesystem::remove_all(entry->path(), busy);
        }
    }
}

}  // namespace

hp::Result<TemporaryDirectory> TemporaryDirectory::make() {
    remove_stale(parent());
    while (true) {
        std::string path = parent() / (std::string(prefix) + "XXXXXX");
        if (!::mkdtemp(path.data())) {
            return hp::fail(fmt::format("cannot make {}: {}", path, std::strerror(errno)));
        }
        hp::Fd lock = lock_folder(path, O_CREAT, 0);
        const int lock_error = errno;
        // Between the file and its lock another harness may have taken the folder for a stale one.
        if (::access(path.c_str(), F_OK) == 0) {
            TemporaryDirectory made(path, std::move(lock));
            if (!made.lock_) {
                return hp::fail(fmt::format("cannot lock {}: {}", path, std::strerror(lock_error)));
            }
            return made;
        }
    }
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}

TemporaryDirectory& TemporaryDirectory::operator=(TemporaryDirectory&& other) noexcept {
    if (this != &other) {
        remove();
        path_ = std::exchange(other.path_, {});
        lock_ = std::move(other.lock_);
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
