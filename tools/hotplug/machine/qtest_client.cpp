// SPDX-License-Identifier: GPL-2.0
// Purpose: see qtest_client.h.
// Thread: see qtest_client.h.
#include "hotplug/machine/qtest_client.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "hotplug/base/line_channel.h"

namespace hotplug {

namespace {

// QEMU answers at its next main-loop turn; longer, and it is wedged.
constexpr std::chrono::seconds qtest_deadline{20};

// "OK" or "OK 0x1234"
hp::Result<uint64_t> parse_answer(const std::string& line, const std::string& command) {
    if (line == "OK") {
        return uint64_t{0};
    }
    uint64_t value = 0;
    if (line.starts_with("OK 0x")) {
        const char* first = line.data() + std::strlen("OK 0x");
        const char* last = line.data() + line.size();
        auto [end, error] = std::from_chars(first, last, value, 16);
        if (error == std::errc() && end == last) {
            return value;
        }
    }
    return hp::fail(fmt::format("qtest: '{}' was answered '{}'", command, line));
}

}  // namespace

hp::Result<std::unique_ptr<QtestClient>> QtestClient::connect(const std::string& socket_path,
                                                              Deadline deadline) {
    auto socket = connect_unix(socket_path, deadline);
    if (!socket) {
        return hp::fail(fmt::format("QEMU's qtest socket: {}", socket.error().message));
    }
    return std::unique_ptr<QtestClient>(new QtestClient(std::move(*socket)));
}

std::string QtestClient::write8(uint64_t address, uint8_t value) {
    return fmt::format("writeb {:#x} {:#x}", address, value);
}

std::string QtestClient::write16(uint64_t address, uint16_t value) {
    return fmt::format("writew {:#x} {:#x}", address, value);
}

std::string QtestClient::write32(uint64_t address, uint32_t value) {
    return fmt::format("writel {:#x} {:#x}", address, value);
}

std::string QtestClient::read8(uint64_t address) {
    return fmt::format("readb {:#x}", address);
}

std::string QtestClient::read16(uint64_t address) {
    return fmt::format("readw {:#x}", address);
}

std::string QtestClient::read32(uint64_t address) {
    return fmt::format("readl {:#x}", address);
}

hp::Result<std::vector<uint64_t>> QtestClient::execute(const std::vector<std::string>& commands) {
    std::string packet;
    for (const std::string& command : commands) {
        packet += command;
        packet += '\n';
    }
    if (packet.size() > max_packet) {
        return hp::fail(fmt::format("qtest: {} bytes of commands would not be carried out at once",
                                    packet.size()));
    }
    Deadline deadline = Deadline::for_cleanup(qtest_deadline);
    if (auto sent = send_packet(packet, deadline); !sent) {
        return tl::unexpected(sent.error());
    }
    std::vector<uint64_t> values;
    for (const std::string& command : commands) {
        auto line = receive_line(deadline);
        if (!line) {
            return tl::unexpected(line.error());
        }
        auto value = parse_answer(*line, command);
        if (!value) {
            return tl::unexpected(value.error());
        }
        values.push_back(*value);
    }
    return values;
}

hp::Result<void> QtestClient::send_packet(const std::string& packet, Deadline deadline) {
    while (!deadline.expired()) {
        // One packet is far smaller than the socket's buffer: it is taken whole or not at all.
        ssize_t sent =
            ::send(socket_.get(), packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent == static_cast<ssize_t>(packet.size())) {
            return {};
        }
        if (sent >= 0) {
            return hp::fail("qtest: a packet was cut in two");
        }
        if (errno != EAGAIN && errno != EINTR) {
            return hp::fail(fmt::format("qtest: cannot send: {}", std::strerror(errno)));
        }
        pollfd writable{socket_.get(), POLLOUT, 0};
        ::poll(&writable, 1, deadline.poll_timeout_ms());
    }
    return hp::fail(deadline.missed("QEMU to take a qtest packet"));
}

hp::Result<std::string> QtestClient::receive_line(Deadline deadline) {
    while (true) {
        if (auto line = received_.next()) {
            return std::move(*line);
        }
        if (const auto& error = received_.error()) {
            return hp::fail(fmt::format("qtest: QEMU sent {}", error->message));
        }
        if (deadline.expired()) {
            return hp::fail(deadline.missed("QEMU's answer on its qtest socket"));
        }
        pollfd readable{socket_.get(), POLLIN, 0};
        if (::poll(&readable, 1, deadline.poll_timeout_ms()) <= 0) {
            continue;
        }
        std::array<char, 4096> buffer;
        ssize_t size = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (size == 0) {
            return hp::fail("qtest: QEMU closed the connection");
        }
        if (size < 0 && errno != EAGAIN && errno != EINTR) {
            return hp::fail(fmt::format("qtest: cannot receive: {}", std::strerror(errno)));
        }
        if (size > 0) {
            received_.append({buffer.data(), static_cast<size_t>(size)});
        }
    }
}

}  // namespace hotplug
