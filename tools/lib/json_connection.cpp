// SPDX-License-Identifier: GPL-2.0
// Purpose: see json_connection.h.
// Thread: see json_connection.h.
#include "lib/json_connection.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "lib/unix_socket.h"

namespace hp {

JsonConnection::JsonConnection(EventLoop& loop, Fd socket, Handlers handlers)
    : loop_(loop), socket_(std::move(socket)), handlers_(std::move(handlers)) {
    watch_ = loop_.watch(socket_.get(), EPOLLIN, [this](uint32_t events) { on_events(events); });
}

JsonConnection::~JsonConnection() {
    watch_.cancel();
    close_orderly(std::move(socket_));
}

void JsonConnection::send(const nlohmann::json& value) {
    if (ending_) {
        return;
    }
    output_ += format_json_line(value);
    output_ += '\n';
    flush();
}

void JsonConnection::on_events(uint32_t events) {
    if ((events & EPOLLOUT) != 0) {
        flush();
    }
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && !ending_) {
        receive();
    }
}

void JsonConnection::receive() {
    std::array<char, 16384> chunk;
    const ssize_t got = ::recv(socket_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (got == 0) {
        end("");
    } else if (got > 0) {
        input_.append({chunk.data(), static_cast<size_t>(got)});
        take_lines();
    } else if (errno != EAGAIN && errno != EINTR) {
        end(std::strerror(errno));
    }
}

void JsonConnection::take_lines() {
    while (const auto line = input_.next()) {
        handlers_.on_line(parse_json_line(*line));
    }
    if (const auto& error = input_.error()) {
        end(error->message);
    }
}

void JsonConnection::flush() {
    const ssize_t sent =
        ::send(socket_.get(), output_.data(), output_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) {
        output_.erase(0, static_cast<size_t>(sent));
    } else if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        end(std::strerror(errno));
        return;
    }
    if (output_.size() > queue_limit) {
        end("the peer does not read");
        return;
    }
    loop_.set_events(watch_, output_.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT);
}

void JsonConnection::end(std::string reason) {
    watch_.cancel();
    // The handler is copied: it may destroy this object, and itself with it.
    ending_ = loop_.after(
        {}, [on_end = handlers_.on_end, reason = std::move(reason)] { on_end(reason); });
}

}  // namespace hp
