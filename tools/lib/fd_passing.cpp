// SPDX-License-Identifier: GPL-2.0
// Purpose: SCM_RIGHTS. Thread: any.
#include "lib/fd_passing.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace hp {
namespace {

using ControlBuffer = std::array<std::byte, CMSG_SPACE(most_passed_fds * sizeof(int))>;

/// What came with the message, whatever the sender meant by it: each has an owner from here on.
std::vector<Fd> take_fds(msghdr& message) {
    std::vector<Fd> fds;
    for (cmsghdr* control = CMSG_FIRSTHDR(&message); control != nullptr;
         control = CMSG_NXTHDR(&message, control)) {
        if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        const std::size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(control) + i * sizeof fd, sizeof fd);
            fds.emplace_back(fd);
        }
    }
    return fds;
}

}  // namespace

ssize_t send_with_fds(int socket, std::span<const std::byte> bytes, std::span<const int> fds,
                      int flags) {
    if (fds.size() > most_passed_fds || bytes.empty()) {
        errno = EINVAL;
        return -1;
    }
    iovec vector{const_cast<std::byte*>(bytes.data()), bytes.size()};
    alignas(cmsghdr) ControlBuffer control;
    msghdr message{};
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    if (!fds.empty()) {
        control.fill(std::byte{0});
        message.msg_control = control.data();
        message.msg_controllen = CMSG_SPACE(fds.size_bytes());
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(fds.size_bytes());
        std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
    }
    return ::sendmsg(socket, &message, flags | MSG_NOSIGNAL);
}

ReceivedWithFds receive_with_fds(int socket, std::span<std::byte> into, int flags,
                                 std::size_t most_fds) {
    iovec vector{into.data(), into.size()};
    alignas(cmsghdr) ControlBuffer control;
    msghdr message{};
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = CMSG_LEN(std::min(most_fds, most_passed_fds) * sizeof(int));
    ReceivedWithFds received;
    received.bytes = ::recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
    if (received.bytes >= 0) {
        received.fds = take_fds(message);
        received.fds_missing = (message.msg_flags & MSG_CTRUNC) != 0;
    }
    return received;
}

}  // namespace hp
