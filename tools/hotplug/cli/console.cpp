// SPDX-License-Identifier: GPL-2.0
// Purpose: see console.h.
// Thread: one.
#include "hotplug/cli/console.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "hotplug/base/deadline.h"
#include "lib/fd.h"

namespace hotplug {

namespace {

constexpr char detach_key = 0x1d;  // Ctrl-]

/// A terminal without line editing, as long as the object lives.
class RawTerminal {
public:
    RawTerminal() : raw_(::tcgetattr(STDIN_FILENO, &before_) == 0) {
        if (raw_) {
            termios now = before_;
            ::cfmakeraw(&now);
            ::tcsetattr(STDIN_FILENO, TCSANOW, &now);
        }
    }
    ~RawTerminal() {
        if (raw_) {
            ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
        }
    }
    RawTerminal(const RawTerminal&) = delete;
    RawTerminal& operator=(const RawTerminal&) = delete;

private:
    termios before_{};
    bool raw_;
};

hp::Result<hp::Fd> connect_to(const std::filesystem::path& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.string().size() >= sizeof(address.sun_path)) {
        return hp::fail(fmt::format("{}: too long for a socket", path.string()));
    }
    std::memcpy(address.sun_path, path.c_str(), path.string().size());
    hp::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address))) {
        return hp::fail(
            fmt::format("{}: cannot reach the console: {}", path.string(), std::strerror(errno)));
    }
    return fd;
}

bool write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno != EINTR) {
            return false;
        }
        bytes.remove_prefix(written > 0 ? static_cast<size_t>(written) : 0);
    }
    return true;
}

enum class Flow { open, ended };

/// Moves what is there from one end to the other.
Flow carry(int from, int to) {
    std::array<char, 4096> buffer;
    const ssize_t got = ::read(from, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
        return Flow::open;
    }
    if (got <= 0) {
        return Flow::ended;
    }
    const std::string_view bytes(buffer.data(), static_cast<size_t>(got));
    const size_t detach = from == STDIN_FILENO ? bytes.find(detach_key) : std::string_view::npos;
    const bool sent = write_all(to, bytes.substr(0, detach));
    return sent && detach == std::string_view::npos ? Flow::open : Flow::ended;
}

}  // namespace

hp::Result<void> attach_console(const std::filesystem::path& socket) {
    const auto console = connect_to(socket);
    if (!console) {
        return tl::unexpected(console.error());
    }
    const RawTerminal terminal;
    std::array<pollfd, 2> ends = {{{STDIN_FILENO, POLLIN, 0}, {console->get(), POLLIN, 0}}};
    while (!Deadline::interrupted()) {
        if (::poll(ends.data(), ends.size(), -1) < 0) {
            continue;  // a signal: the loop's condition looks at it
        }
        if (ends[0].revents != 0 && carry(STDIN_FILENO, console->get()) == Flow::ended) {
            break;
        }
        if (ends[1].revents != 0 && carry(console->get(), STDOUT_FILENO) == Flow::ended) {
            break;
        }
    }
    return {};
}

}  // namespace hotplug
