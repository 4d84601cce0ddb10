// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/transport/vfio_user_connection.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "lib/fd_passing.h"
#include "lib/unix_socket.h"

namespace gpuemu {
namespace {

constexpr int messages_per_turn = 64;  // then the rest of the loop has a turn

}  // namespace

VfioUserConnection::VfioUserConnection(hp::EventLoop& loop, hp::Fd socket, VfioUserSession& session,
                                       const Options& options,
                                       std::function<void(const std::string&)> on_end)
    : loop_(loop),
      socket_(std::move(socket)),
      session_(session),
      options_(options),
      on_end_(std::move(on_end)) {
    reply_.bytes.reserve(vfio_user::max_message);  // no later allocation that could fail
    watch_ = loop_.watch(socket_.get(), EPOLLIN, [this](uint32_t events) { on_events(events); });
}

VfioUserConnection::~VfioUserConnection() {
    watch_.cancel();
    session_.end();
    hp::close_orderly(std::move(socket_));
}

bool VfioUserConnection::peer_gone() const {
    pollfd state{.fd = socket_.get(), .events = POLLRDHUP, .revents = 0};
    return ::poll(&state, 1, 0) == 1 && (state.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

void VfioUserConnection::finish() {
    while (!waiting()) {
        if (!serve()) {
            return;
        }
    }
    end("");
}

bool VfioUserConnection::on_events(uint32_t events) {
    if (!waiting()) {
        return serve();
    }
    if ((events & (EPOLLHUP | EPOLLERR)) != 0) {
        return end("");  // nobody is left to wait for the reply
    }
    return (events & EPOLLOUT) == 0 || resume();
}

bool VfioUserConnection::serve() {
    int left = messages_per_turn;
    while (true) {
        if (!handle_buffered(left)) {
            return false;
        }
        if (waiting()) {
            return true;
        }
        if (left == 0) {
            // What is in the framer makes no event.
            next_turn_ = loop_.after(std::chrono::milliseconds(0), [this] {
                next_turn_.cancel();
                serve();
            });
            return true;
        }
        switch (framer_.receive(socket_.get())) {
            case MessageFramer::Received::data: break;
            case MessageFramer::Received::nothing: return true;
            case MessageFramer::Received::closed: return end("");
            case MessageFramer::Received::error: return end(std::strerror(errno));
        }
    }
}

/// As many messages as are there, at most `left` of them, which it counts down.
bool VfioUserConnection::handle_buffered(int& left) {
    while (!waiting() && left > 0) {
        switch (framer_.next(message_)) {
            case MessageFramer::Next::incomplete: return true;
            case MessageFramer::Next::broken:
                return end(fmt::format("a message of {} bytes, {} to {} are possible",
                                       message_.header.size, sizeof(vfio_user::Header),
                                       vfio_user::max_message));
            case MessageFramer::Next::message: break;
        }
        --left;
        session_.handle(message_, reply_);
        message_.fds.clear();
        if (!answer()) {
            return false;
        }
        loop_.idle_turn();
    }
    return true;
}

bool VfioUserConnection::answer() {
    if (reply_.bytes.empty()) {
        return true;
    }
    sent_ = 0;
    if (options_.bar_delay && VfioUserSession::is_bar_access(message_)) {
        if (const auto delay = options_.bar_delay(); delay.count() > 0) {
            loop_.set_events(watch_, 0);
            delay_ = loop_.after(delay, [this] {
                delay_.cancel();
                resume();
            });
            return true;
        }
    }
    return send_reply();
}

/// Sends what the socket takes of reply_; for the rest it waits.
bool VfioUserConnection::send_reply() {
    const ssize_t sent = send_rest();
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        return end(errno == EPIPE ? "" : std::strerror(errno));
    }
    sent_ += sent > 0 ? static_cast<size_t>(sent) : 0;
    if (sent_ == reply_.bytes.size()) {
        stall_.cancel();
        return true;
    }
    if (sent > 0 || !stall_) {
        stall_ = loop_.after(options_.stall_limit,
                             [this] { end("the client does not take its replies"); });
        loop_.set_events(watch_, EPOLLOUT);
    }
    return true;
}

ssize_t VfioUserConnection::send_rest() {
    const auto rest = std::span(reply_.bytes).subspan(sent_);
    const bool with_fd = reply_.fd >= 0 && sent_ == 0;
    return hp::send_with_fds(socket_.get(), rest,
                             with_fd ? std::span<const int>(&reply_.fd, 1) : std::span<const int>(),
                             MSG_DONTWAIT);
}

/// The reply may go out (now, or more of it); then the messages behind it have their turn.
bool VfioUserConnection::resume() {
    if (!send_reply()) {
        return false;
    }
    if (waiting()) {
        return true;
    }
    loop_.set_events(watch_, EPOLLIN);
    return serve();
}

bool VfioUserConnection::end(const std::string& reason) {
    const auto on_end = std::move(on_end_);  // it destroys this object, itself must last
    on_end(reason);
    return false;
}

}  // namespace gpuemu
