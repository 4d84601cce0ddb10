// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of fd_passing.
// Thread: the test's.
#include "lib/fd_passing.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <utility>

namespace hp {
namespace {

class FdPassing : public testing::Test {
protected:
    FdPassing() {
        std::array<int, 2> pair{-1, -1};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
        ours.reset(pair[0]);
        theirs.reset(pair[1]);
    }

    static bool same_file(int one, int other) {
        struct stat first {};
        struct stat second {};
        return ::fstat(one, &first) == 0 && ::fstat(other, &second) == 0 &&
               first.st_ino == second.st_ino && first.st_dev == second.st_dev;
    }

    const std::array<std::byte, 3> word{std::byte{1}, std::byte{2}, std::byte{3}};
    std::array<std::byte, 8> room{};
    Fd ours;
    Fd theirs;
};

TEST_F(FdPassing, BytesAndDescriptorsArriveTogether) {
    const std::array<int, 2> sent{ours.get(), theirs.get()};
    ASSERT_EQ(send_with_fds(ours.get(), word, sent, 0), 3);
    const ReceivedWithFds received = receive_with_fds(theirs.get(), room, MSG_DONTWAIT);
    EXPECT_EQ(received.bytes, 3);
    EXPECT_EQ(room[2], std::byte{3});
    EXPECT_FALSE(received.fds_missing);
    ASSERT_EQ(received.fds.size(), 2u);
    EXPECT_TRUE(same_file(received.fds[0].get(), ours.get()));
    EXPECT_TRUE(same_file(received.fds[1].get(), theirs.get()));
    EXPECT_NE(::fcntl(received.fds[0].get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(FdPassing, BytesAloneArrive) {
    ASSERT_EQ(send_with_fds(ours.get(), word, {}, 0), 3);
    const ReceivedWithFds received = receive_with_fds(theirs.get(), room, MSG_DONTWAIT);
    EXPECT_EQ(received.bytes, 3);
    EXPECT_TRUE(received.fds.empty());
    EXPECT_FALSE(received.fds_missing);
}

TEST_F(FdPassing, DescriptorsWithoutRoomAreSaidToBeMissing) {
    const std::array<int, 3> sent{ours.get(), ours.get(), ours.get()};
    ASSERT_EQ(send_with_fds(ours.get(), word, sent, 0), 3);
    const ReceivedWithFds received = receive_with_fds(theirs.get(), room, MSG_DONTWAIT, 1);
    EXPECT_EQ(received.fds.size(), 1u);
    EXPECT_TRUE(received.fds_missing);
}

TEST_F(FdPassing, ErrorsAreThoseOfTheSystem) {
    EXPECT_EQ(receive_with_fds(theirs.get(), room, MSG_DONTWAIT).bytes, -1);
    EXPECT_EQ(errno, EAGAIN);
    const std::array<int, most_passed_fds + 1> many{};
    EXPECT_EQ(send_with_fds(ours.get(), word, many, 0), -1);
    EXPECT_EQ(errno, EINVAL);
    theirs.reset();
    EXPECT_EQ(receive_with_fds(ours.get(), room, 0).bytes, 0);
    EXPECT_EQ(send_with_fds(ours.get(), word, {}, 0), -1) << "and no SIGPIPE";
    EXPECT_EQ(errno, EPIPE);
}

}  // namespace
}  // namespace hp
