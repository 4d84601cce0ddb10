// SPDX-License-Identifier: GPL-2.0
// Purpose: cuts a stream of bytes and file descriptors into vfio-user messages. One recvmsg() takes
// whatever the socket holds, so a message of usual size costs one system call, and several posted
// writes cost one together. Thread: device loop only. Does not model: which file descriptor of
// several belongs to which of two messages that a client sent with one sendmsg(); the last message
// gets them. No client does that: QEMU sends message by message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu-emu/transport/vfio_user_protocol.h"
#include "lib/fd.h"

namespace gpuemu {

class MessageFramer {
public:
    enum class Received { data, nothing, closed, error };

    struct Message {
        vfio_user::Header header;
        std::span<const std::byte> payload;  // until the next call of receive() or commit()
        std::vector<hp::Fd> fds;
        bool too_many_fds = false;  // the surplus is closed
    };

    enum class Next { message, incomplete, broken };

    MessageFramer();

    /// One non-blocking recvmsg(). `error` leaves errno.
    Received receive(int socket);

    /// The same without a socket: where bytes go, and how many went there.
    std::span<std::byte> space();
    void commit(size_t bytes, std::vector<hp::Fd> fds, bool fds_truncated = false);

    /// Takes the oldest message. After `broken` the stream has no meaning any more; only clear()
    /// helps.
    Next next(Message& message);

    /// For the next client.
    void clear();

private:
    struct FdPacket {
        uint64_t message_at;  // stream position of the message they belong to
        std::vector<hp::Fd> fds;
        bool too_many;
    };

    uint64_t last_message_start() const;
    void collect_fds(uint64_t message_at, Message& message);

    std::vector<std::byte> buffer_;
    size_t begin_ = 0;  // bytes [begin_, end_) of buffer_ are unread
    size_t end_ = 0;
    uint64_t consumed_ = 0;  // stream position of begin_
    std::vector<FdPacket> fd_packets_;
};

}  // namespace gpuemu
