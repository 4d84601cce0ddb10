// SPDX-License-Identifier: GPL-2.0
// Purpose: see pool_client.h.
// Thread: see pool_client.h.
#include "gpupool/cli/pool_client.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "lib/json_line.h"
#include "lib/unix_socket.h"

namespace gpupool {

namespace {

constexpr std::chrono::milliseconds connect_deadline{500};
// A daemon that has much to do answers later than it wants to.
constexpr std::chrono::milliseconds answer_grace{30'000};

}  // namespace

hp::Result<PoolClient> PoolClient::connect(const std::string& socket) {
    auto fd = hp::connect_unix(socket, connect_deadline);
    if (!fd) {
        return hp::fail(fmt::format(
            "gpupoold does not answer at {}: start it, or name its socket with --socket ({})",
            socket, fd.error().message));
    }
    return PoolClient(socket, std::move(*fd));
}

hp::Result<nlohmann::json> PoolClient::ask(const nlohmann::json& request) {
    const auto ended = [this](const char* why) {
        return hp::fail(fmt::format(
            "gpupoold at {} is lost ({}): whether it was done, 'gpupool status' tells once it is "
            "back",
            socket_, why));
    };
    const std::chrono::milliseconds patience =
        answer_grace + std::chrono::milliseconds(request.value("timeout_ms", uint64_t{0}));
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience);
    const timeval limit{.tv_sec = seconds.count(),
                        .tv_usec = std::chrono::microseconds(patience - seconds).count()};
    for (const int direction : {SO_SNDTIMEO, SO_RCVTIMEO}) {
        if (::setsockopt(fd_.get(), SOL_SOCKET, direction, &limit, sizeof limit) != 0) {
            return ended(std::strerror(errno));
        }
    }
    const auto failed = [&] {
        return errno == EAGAIN ? ended("no answer") : ended(std::strerror(errno));
    };
    const std::string line = hp::format_json_line(request) + "\n";
    for (size_t sent = 0; sent < line.size();) {
        const ssize_t size =
            ::send(fd_.get(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
        if (size < 0 && errno != EINTR) {
            return failed();
        }
        sent += size > 0 ? static_cast<size_t>(size) : 0;
    }
    std::array<char, 65536> bytes;
    while (true) {
        if (const auto answer = input_.next()) {
            return hp::parse_json_line(*answer);
        }
        if (input_.error()) {
            return tl::unexpected(*input_.error());
        }
        const ssize_t size = ::recv(fd_.get(), bytes.data(), bytes.size(), 0);
        if (size == 0) {
            return ended("end of the connection");
        }
        if (size < 0 && errno != EINTR) {
            return failed();
        }
        if (size > 0) {
            input_.append({bytes.data(), static_cast<size_t>(size)});
        }
    }
}

}  // namespace gpupool
