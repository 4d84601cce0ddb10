// SPDX-License-Identifier: GPL-2.0
// Purpose: see unix_socket.h.
// Thread: see unix_socket.h.
#include "lib/unix_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <thread>

namespace hp {
namespace {

constexpr int backlog = 8;

Result<sockaddr_un> address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof address.sun_path) {
        return fail(fmt::format("socket path '{}' has {} bytes; 1 to {} are possible", path,
                                path.size(), sizeof address.sun_path - 1));
    }
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
}

const sockaddr* generic(const sockaddr_un& address) {
    return reinterpret_cast<const sockaddr*>(&address);
}

Result<Fd> stream_socket(int flags) {
    Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
    if (!fd) {
        return fail(fmt::format("cannot make a socket: {}", std::strerror(errno)));
    }
    return fd;
}

/// Removes a socket file without a server. Empty: the path is free now; else what is in the way.
std::optional<Error> clear_stale(const std::string& path, const sockaddr_un& address) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) {
        return errno == ENOENT ? std::nullopt
                               : std::optional(Error{path + ": " + std::strerror(errno)});
    }
    if (!S_ISSOCK(info.st_mode)) {
        return Error{path + " exists and is not a socket"};
    }
    auto probe = stream_socket(SOCK_NONBLOCK);
    if (!probe) {
        return probe.error();
    }
    if (::connect(probe->get(), generic(address), sizeof address) == 0 || errno != ECONNREFUSED) {
        return Error{path + " is in use by a running server"};
    }
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
        return Error{
            fmt::format("cannot remove the stale socket {}: {}", path, std::strerror(errno))};
    }
    return std::nullopt;
}

}  // namespace

Result<UnixListener> UnixListener::open(const std::string& path) {
    const auto address = address_of(path);
    if (!address) {
        return tl::unexpected(address.error());
    }
    auto fd = stream_socket(SOCK_NONBLOCK);
    if (!fd) {
        return tl::unexpected(fd.error());
    }
    if (auto obstacle = clear_stale(path, *address)) {
        return tl::unexpected(*obstacle);
    }
    if (::bind(fd->get(), generic(*address), sizeof *address) != 0) {
        return fail(fmt::format("cannot create socket {}: {}", path, std::strerror(errno)));
    }
    UnixListener listener(std::move(*fd), path);  // from here on the path is ours to remove
    if (::listen(listener.fd(), backlog) != 0) {
        return fail(fmt::format("cannot listen on {}: {}", path, std::strerror(errno)));
    }
    return listener;
}

UnixListener& UnixListener::operator=(UnixListener&& other) noexcept {
    if (this != &other) {
        close();
        fd_ = std::move(other.fd_);
        path_ = std::move(other.path_);
    }
    return *this;
}

Result<Fd> UnixListener::accept() {
    while (true) {
        Fd fd(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (fd || errno == EAGAIN) {
            return fd;
        }
        if (errno != EINTR && errno != ECONNABORTED) {
            return fail(fmt::format("accept on {}: {}", path_, std::strerror(errno)));
        }
    }
}

void UnixListener::close() {
    if (fd_) {
        ::unlink(path_.c_str());
        fd_.reset();
    }
}

Result<Fd> connect_unix(const std::string& path, std::chrono::milliseconds deadline) {
    // There is no event for "somebody listens now" that would also cover a refused connection and a
    // full backlog.
    constexpr std::chrono::milliseconds retry(5);
    const auto address = address_of(path);
    if (!address) {
        return tl::unexpected(address.error());
    }
    const auto until = std::chrono::steady_clock::now() + deadline;
    while (true) {
        auto fd = stream_socket(SOCK_NONBLOCK);
        if (!fd) {
            return fd;
        }
        if (::connect(fd->get(), generic(*address), sizeof *address) == 0) {
            const int flags = ::fcntl(fd->get(), F_GETFL);
            if (flags < 0 || ::fcntl(fd->get(), F_SETFL, flags & ~O_NONBLOCK) != 0) {
                return fail(fmt::format("socket {}: {}", path, std::strerror(errno)));
            }
            return fd;
        }
        const int error = errno;
        const bool may_come = error == ENOENT || error == ECONNREFUSED || error == EAGAIN;
        if (!may_come || std::chrono::steady_clock::now() + retry > until) {
            return fail(fmt::format("cannot connect to {} within {} ms: {}", path, deadline.count(),
                                    std::strerror(error)));
        }
        std::this_thread::sleep_for(retry);
    }
}

Result<Fd> try_connect_unix(const std::string& path) {
    const auto address = address_of(path);
    if (!address) {
        return tl::unexpected(address.error());
    }
    auto fd = stream_socket(SOCK_NONBLOCK);
    if (!fd || ::connect(fd->get(), generic(*address), sizeof *address) == 0) {
        return fd;
    }
    if (errno == ENOENT || errno == ECONNREFUSED) {
        return Fd();
    }
    return fail(fmt::format("cannot connect to {}: {}", path, std::strerror(errno)));
}

void close_orderly(Fd socket) {
    if (!socket || ::shutdown(socket.get(), SHUT_RDWR) != 0) {
        return;  // the peer was faster; the destructor closes
    }
    std::array<std::byte, 4096> rest;
    while (::recv(socket.get(), rest.data(), rest.size(), MSG_DONTWAIT) > 0) {
    }
}

}  // namespace hp
