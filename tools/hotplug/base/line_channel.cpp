// SPDX-License-Identifier: GPL-2.0
// Purpose: see line_channel.h.
// Thread: see line_channel.h.
#include "hotplug/base/line_channel.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "lib/json_line.h"
#include "lib/line_buffer.h"

namespace hotplug {

namespace {

constexpr std::chrono::seconds send_deadline{10};

}  // namespace

hp::Result<hp::Fd> connect_unix(const std::string& path, Deadline deadline) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path)) {
        return hp::fail(fmt::format("{}: longer than a unix socket's path may be ({} bytes)", path,
                                    sizeof(address.sun_path) - 1));
    }
    std::memcpy(address.sun_path, path.c_str(), path.size());
    while (true) {
        hp::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (!socket) {
            return hp::fail(fmt::format("cannot make a socket: {}", std::strerror(errno)));
        }
        if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) ==
            0) {
            return socket;
        }
        int error = errno;
        bool not_yet = error == ENOENT || error == ECONNREFUSED || error == EAGAIN;
        if (!not_yet) {
            return hp::fail(fmt::format("cannot connect to {}: {}", path, std::strerror(error)));
        }
        if (deadline.expired()) {
            return hp::fail(deadline.missed(fmt::format("a listener on {}", path)));
        }
        // The peer is starting up. A file system event would tell of bind(2), but nothing tells of
        // listen(2).
        deadline.pause(std::chrono::milliseconds(10));
    }
}

LineChannel::LineChannel(hp::Fd socket, Log log, LineHandler on_line, EndHandler on_end)
    : socket_(std::move(socket)),
      log_(std::move(log)),
      on_line_(std::move(on_line)),
      on_end_(std::move(on_end)),
      reader_([this] { read_lines(); }) {}

LineChannel::~LineChannel() {
    ::shutdown(socket_.get(), SHUT_RDWR);  // ends the reader's recv()
    reader_.join();
}

hp::Result<void> LineChannel::send(std::string_view line) {
    std::lock_guard lock(send_mutex_);
    if (log_) {
        log_(Direction::sent, line);
    }
    std::string packet = fmt::format("{}\n", line);
    std::string_view rest = packet;
    Deadline deadline = Deadline::for_cleanup(send_deadline);
    while (!rest.empty()) {
        ssize_t sent = ::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0) {
            rest.remove_prefix(static_cast<size_t>(sent));
        } else if (errno == EAGAIN) {
            if (deadline.expired()) {
                return hp::fail(deadline.missed("the peer to take a line"));
            }
            pollfd writable{socket_.get(), POLLOUT, 0};
            ::poll(&writable, 1, deadline.poll_timeout_ms());
        } else if (errno != EINTR) {
            return hp::fail(fmt::format("cannot send: {}", std::strerror(errno)));
        }
    }
    return {};
}

void LineChannel::read_lines() {
    on_end_(read_until_end());
}

std::string LineChannel::read_until_end() {
    hp::LineBuffer lines(hp::json_line_limit, hp::LineBuffer::Overlong::refuse);
    std::array<char, 65536> buffer;
    while (true) {
        ssize_t size = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
        if (size < 0 && errno == EINTR) {
            continue;
        }
        if (size < 0) {
            return fmt::format("cannot receive: {}", std::strerror(errno));
        }
        if (size == 0) {
            return "it closed the connection";
        }
        lines.append({buffer.data(), static_cast<size_t>(size)});
        while (auto line = lines.next()) {
            if (line->ends_with('\r')) {
                line->pop_back();  // QMP ends its lines so
            }
            if (log_) {
                log_(Direction::received, *line);
            }
            on_line_(*line);
        }
        if (const auto& error = lines.error()) {
            return "it sent " + error->message;
        }
    }
}

}  // namespace hotplug
