// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/transport/vfio_user_server.h"

#include <sys/socket.h>

#include <cerrno>
#include <stdexcept>
#include <utility>

#include "lib/log.h"

namespace gpuemu {
namespace {

using namespace std::chrono_literals;

constexpr size_t most_refused = 8;  // at a time
constexpr auto hello_deadline = 2s;

hp::UnixListener open_or_throw(const std::string& path) {
    auto listener = hp::UnixListener::open(path);
    if (!listener) {
        throw std::runtime_error(listener.error().message);
    }
    return std::move(*listener);
}

/// Answers a hello with "busy". Best effort: the client is cut off anyway.
void say_busy(int socket) {
    vfio_user::Header header{};
    if (::recv(socket, &header, sizeof header, MSG_DONTWAIT) != sizeof header) {
        return;
    }
    header.size = sizeof header;
    header.flags = vfio_user::header_type_reply | vfio_user::header_error;
    header.error = EBUSY;
    ::send(socket, &header, sizeof header, MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace

VfioUserServer::VfioUserServer(hp::EventLoop& loop, PciFunction& function,
                               const std::string& socket_path, VfioUserConnection::Options options)
    : loop_(loop),
      options_(std::move(options)),
      session_(function),
      acceptor_(loop, open_or_throw(socket_path), "vfio-user client",
                [this](hp::Fd socket) { accept(std::move(socket)); }) {}

void VfioUserServer::accept(hp::Fd socket) {
    // A replug can overtake the news of the unplug.
    if (connection_ && connection_->peer_gone()) {
        connection_->finish();
    }
    if (connection_) {
        refuse(std::move(socket));
    } else {
        serve(std::move(socket));
    }
}

void VfioUserServer::serve(hp::Fd socket) {
    hp::log::debug("client connected", {{"socket", acceptor_.path()}});
    connection_ = std::make_unique<VfioUserConnection>(
        loop_, std::move(socket), session_, options_, [this](const std::string& reason) {
            if (reason.empty()) {
                hp::log::debug("client gone", {{"socket", acceptor_.path()}});
            } else {
                hp::log::warning("client dropped",
                                 {{"socket", acceptor_.path()}, {"reason", reason}});
            }
            connection_.reset();
        });
}

void VfioUserServer::refuse(hp::Fd socket) {
    hp::log::warning("second client refused", {{"socket", acceptor_.path()}});
    if (refused_.size() >= most_refused) {
        return;
    }
    const int fd = socket.get();
    const auto client = refused_.insert(refused_.end(), Refused{std::move(socket), {}, {}});
    client->watch = loop_.watch(fd, EPOLLIN, [this, client, fd](uint32_t) {
        say_busy(fd);
        drop_refused(client);
    });
    client->deadline = loop_.after(hello_deadline, [this, client] { drop_refused(client); });
}

void VfioUserServer::drop_refused(std::list<Refused>::iterator client) {
    hp::Fd socket = std::move(client->socket);
    refused_.erase(client);
    hp::close_orderly(std::move(socket));
}

}  // namespace gpuemu
