// SPDX-License-Identifier: GPL-2.0
// Purpose: the kernel's uevents, as udev gets them.
// Thread: not synchronised; the client's one thread owns it.
#include "hotplug/in_guest/clients/uevents.h"

#include <linux/netlink.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>

namespace hp::clients {

namespace {

/// The kernel's own; udevd sends to the second one.
constexpr unsigned kernel_group = 1;
/// UEVENT_BUFFER_SIZE of the kernel is 2048.
constexpr std::size_t message_size = 8192;

}  // namespace

std::optional<Uevent> parse_uevent(std::string_view message) {
    const auto take = [&message] {
        const auto end = message.find('\0');
        const std::string_view text = message.substr(0, end);
        message.remove_prefix(end == std::string_view::npos ? message.size() : end + 1);
        return text;
    };
    if (take().find('@') == std::string_view::npos) {
        return std::nullopt;
    }
    Uevent event;
    while (!message.empty()) {
        const std::string_view text = take();
        const auto equals = text.find('=');
        if (equals != std::string_view::npos) {
            event.emplace(text.substr(0, equals), text.substr(equals + 1));
        }
    }
    return event;
}

std::string_view member(const Uevent& event, const std::string& key) {
    const auto found = event.find(key);
    return found == event.end() ? std::string_view() : found->second;
}

IoResult<Uevents> Uevents::open() {
    Fd socket(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT));
    if (!socket) {
        return io_fail("socket");
    }
    sockaddr_nl address{};
    address.nl_family = AF_NETLINK;
    address.nl_groups = kernel_group;
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        return io_fail("bind");
    }
    return Uevents(std::move(socket));
}

IoResult<std::optional<Uevent>> Uevents::next(std::chrono::milliseconds patience) {
    const auto until = std::chrono::steady_clock::now() + patience;
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            until - std::chrono::steady_clock::now());
        pollfd wait{.fd = socket_.get(), .events = POLLIN, .revents = 0};
        const int ready = ::poll(&wait, 1, left.count() > 0 ? static_cast<int>(left.count()) : 0);
        if (ready < 0 && errno != EINTR) {
            return io_fail("poll");
        }
        if (ready <= 0) {
            return std::nullopt;
        }
        std::array<char, message_size> message{};
        const ssize_t size = ::recv(socket_.get(), message.data(), message.size(), 0);
        if (size < 0) {
            return io_fail("recv");
        }
        auto event = parse_uevent({message.data(), static_cast<std::size_t>(size)});
        if (event) {
            return event;
        }
    }
}

}  // namespace hp::clients
