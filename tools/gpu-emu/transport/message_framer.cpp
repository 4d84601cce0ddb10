// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/transport/message_framer.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "lib/fd_passing.h"

namespace gpuemu {
namespace {

using vfio_user::Header;

constexpr size_t read_ahead = 64 << 10;
// More than a message may bring, so that a client that sends too many is told so instead of losing
// some silently.
constexpr size_t fds_per_receive = 2 * vfio_user::max_message_fds;

bool plausible(const Header& header) {
    return header.size >= sizeof(Header) && header.size <= vfio_user::max_message;
}

}  // namespace

MessageFramer::MessageFramer() : buffer_(vfio_user::max_message + read_ahead) {}

MessageFramer::Received MessageFramer::receive(int socket) {
    hp::ReceivedWithFds got = hp::receive_with_fds(socket, space(), MSG_DONTWAIT, fds_per_receive);
    if (got.bytes < 0) {
        return errno == EAGAIN || errno == EINTR ? Received::nothing : Received::error;
    }
    if (got.bytes == 0) {
        return Received::closed;
    }
    commit(static_cast<size_t>(got.bytes), std::move(got.fds), got.fds_missing);
    return Received::data;
}

std::span<std::byte> MessageFramer::space() {
    if (begin_ == end_) {
        begin_ = end_ = 0;
    } else if (buffer_.size() - end_ < read_ahead) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    return std::span(buffer_).subspan(end_);
}

void MessageFramer::commit(size_t bytes, std::vector<hp::Fd> fds, bool fds_truncated) {
    end_ += bytes;
    if (fds.empty() && !fds_truncated) {
        return;
    }
    // The kernel ends a read behind the piece that carried descriptors: they are the last
    // message's.
    const uint64_t message_at = last_message_start();
    if (fd_packets_.empty() || fd_packets_.back().message_at != message_at) {
        fd_packets_.push_back({.message_at = message_at, .fds = {}, .too_many = false});
    }
    FdPacket& packet = fd_packets_.back();
    packet.too_many = packet.too_many || fds_truncated;
    for (hp::Fd& fd : fds) {
        if (packet.fds.size() < vfio_user::max_message_fds) {
            packet.fds.push_back(std::move(fd));
        } else {
            packet.too_many = true;  // and `fds` closes it
        }
    }
}

uint64_t MessageFramer::last_message_start() const {
    size_t at = begin_;
    Header header{};
    while (end_ - at >= sizeof header) {
        std::memcpy(&header, buffer_.data() + at, sizeof header);
        if (!plausible(header) || end_ - at <= header.size) {
            break;
        }
        at += header.size;
    }
    return consumed_ + (at - begin_);
}

MessageFramer::Next MessageFramer::next(Message& message) {
    const size_t available = end_ - begin_;
    if (available < sizeof(Header)) {
        return Next::incomplete;
    }
    std::memcpy(&message.header, buffer_.data() + begin_, sizeof(Header));
    if (!plausible(message.header)) {
        return Next::broken;
    }
    const size_t size = message.header.size;
    if (available < size) {
        return Next::incomplete;
    }
    message.payload =
        std::span<const std::byte>(buffer_).subspan(begin_ + sizeof(Header), size - sizeof(Header));
    collect_fds(consumed_, message);
    begin_ += size;
    consumed_ += size;
    return Next::message;
}

void MessageFramer::collect_fds(uint64_t message_at, Message& message) {
    message.fds.clear();
    message.too_many_fds = false;
    if (!fd_packets_.empty() && fd_packets_.front().message_at == message_at) {
        message.fds = std::move(fd_packets_.front().fds);
        message.too_many_fds = fd_packets_.front().too_many;
        fd_packets_.erase(fd_packets_.begin());
    }
}

void MessageFramer::clear() {
    begin_ = end_ = 0;
    consumed_ = 0;
    fd_packets_.clear();
}

}  // namespace gpuemu
