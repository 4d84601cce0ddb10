// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/transport/message_framer.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace gpuemu {
namespace {

using vfio_user::Command;
using vfio_user::Header;

std::vector<std::byte> message_bytes(uint16_t id, size_t payload) {
    const Header header{.id = id,
                        .command = Command::region_write,
                        .size = static_cast<uint32_t>(sizeof(Header) + payload),
                        .flags = 0,
                        .error = 0};
    std::vector<std::byte> bytes(sizeof header + payload, static_cast<std::byte>(id));
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
}

void feed(MessageFramer& framer, std::span<const std::byte> bytes, size_t fd_count = 0) {
    std::vector<hp::Fd> fds;
    for (size_t i = 0; i < fd_count; ++i) {
        fds.emplace_back(::eventfd(0, EFD_CLOEXEC));
    }
    const auto space = framer.space();
    ASSERT_GE(space.size(), bytes.size());
    std::copy(bytes.begin(), bytes.end(), space.begin());
    framer.commit(bytes.size(), std::move(fds));
}

TEST(MessageFramer, SeveralMessagesOfOneReadComeOutOneByOne) {
    MessageFramer framer;
    auto bytes = message_bytes(1, 4);
    const auto second = message_bytes(2, 0);
    bytes.insert(bytes.end(), second.begin(), second.end());
    feed(framer, bytes);
    MessageFramer::Message message;
    ASSERT_EQ(framer.next(message), MessageFramer::Next::message);
    EXPECT_EQ(message.header.id, 1);
    EXPECT_EQ(message.payload.size(), 4u);
    ASSERT_EQ(framer.next(message), MessageFramer::Next::message);
    EXPECT_EQ(message.header.id, 2);
    EXPECT_TRUE(message.payload.empty());
    EXPECT_EQ(framer.next(message), MessageFramer::Next::incomplete);
}

TEST(MessageFramer, AMessageMayArriveByteByByte) {
    MessageFramer framer;
    MessageFramer::Message message;
    const auto bytes = message_bytes(7, 33);
    for (size_t i = 0; i < bytes.size(); ++i) {
        ASSERT_EQ(framer.next(message), MessageFramer::Next::incomplete);
        feed(framer, std::span(bytes).subspan(i, 1));
    }
    ASSERT_EQ(framer.next(message), MessageFramer::Next::message);
    EXPECT_EQ(message.payload.size(), 33u);
    EXPECT_EQ(message.payload.back(), std::byte{7});
}

TEST(MessageFramer, SizesThatCannotBeEndTheStream) {
    for (const uint32_t size : {0u, 15u, vfio_user::max_message + 1, ~0u}) {
        MessageFramer framer;
        MessageFramer::Message message;
        auto bytes = message_bytes(1, 0);
        std::memcpy(bytes.data() + offsetof(Header, size), &size, sizeof size);
        feed(framer, bytes);
        EXPECT_EQ(framer.next(message), MessageFramer::Next::broken) << size;
    }
}

TEST(MessageFramer, TheLargestMessagesFitOneAfterTheOther) {
    MessageFramer framer;
    MessageFramer::Message message;
    const auto bytes = message_bytes(1, vfio_user::max_message - sizeof(Header));
    std::vector<std::byte> stream;
    for (int i = 0; i < 3; ++i) {
        stream.insert(stream.end(), bytes.begin(), bytes.end());
    }
    size_t at = 0;
    int messages = 0;
    while (at < stream.size()) {
        const size_t chunk = std::min({framer.space().size(), stream.size() - at, size_t{50'001}});
        ASSERT_GT(chunk, 0u);
        feed(framer, std::span(stream).subspan(at, chunk));
        at += chunk;
        while (framer.next(message) == MessageFramer::Next::message) {
            ++messages;
        }
    }
    EXPECT_EQ(messages, 3);
}

TEST(MessageFramer, DescriptorsBelongToTheLastMessageOfTheirRead) {
    MessageFramer framer;
    MessageFramer::Message message;
    auto bytes = message_bytes(1, 4);
    const auto second = message_bytes(2, 8);
    bytes.insert(bytes.end(), second.begin(), second.end() - 3);
    feed(framer, bytes, 2);
    ASSERT_EQ(framer.next(message), MessageFramer::Next::message);
    EXPECT_EQ(message.fds.size(), 0u);
    feed(framer, std::span(second).last(3));
    ASSERT_EQ(framer.next(message), MessageFramer::Next::message);
    EXPECT_EQ(message.header.id, 2);
    EXPECT_EQ(message.fds.size(), 2u);
    EXPECT_FALSE(message.too_many_fds);
}

TEST(MessageFramer, AFloodOfDescriptorsIsBounded) {
    MessageFramer framer;
    MessageFramer::Message message;
    const auto bytes = message_bytes(1, 100);
    for (size_t i = 0; i < bytes.size(); ++i) {
        feed(framer, std::span(bytes).subspan(i, 1), 4);
    }
    ASSERT_EQ(framer.next(message), MessageFramer::Next::message);
    EXPECT_EQ(message.fds.size(), vfio_user::max_message_fds);
    EXPECT_TRUE(message.too_many_fds);
}

TEST(MessageFramer, ReceivesFromASocket) {
    std::array<int, 2> pair{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
    hp::Fd ours(pair[0]);
    hp::Fd theirs(pair[1]);
    MessageFramer framer;
    EXPECT_EQ(framer.receive(ours.get()), MessageFramer::Received::nothing);
    const auto bytes = message_bytes(3, 5);
    ASSERT_EQ(::send(theirs.get(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
    EXPECT_EQ(framer.receive(ours.get()), MessageFramer::Received::data);
    MessageFramer::Message message;
    EXPECT_EQ(framer.next(message), MessageFramer::Next::message);
    theirs.reset();
    EXPECT_EQ(framer.receive(ours.get()), MessageFramer::Received::closed);
}

}  // namespace
}  // namespace gpuemu
