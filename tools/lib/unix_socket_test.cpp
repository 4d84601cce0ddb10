// SPDX-License-Identifier: GPL-2.0
// Purpose: that a live server's path is not taken, and that a close is orderly.
// Thread: one.
#include "lib/unix_socket.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <thread>

#include "lib/temp_tree.h"

namespace hp {
namespace {

using namespace std::chrono_literals;

class UnixSocketTest : public testing::Test {
protected:
    const TempTree folder;
    const std::string path = folder.root() / "s";
};

TEST_F(UnixSocketTest, ListensConnectsAndCleansUp) {
    {
        auto listener = UnixListener::open(path);
        ASSERT_TRUE(listener) << listener.error().message;
        auto client = connect_unix(path, 10s);
        ASSERT_TRUE(client) << client.error().message;
        auto server = listener->accept();
        ASSERT_TRUE(server);
        ASSERT_TRUE(*server);
        EXPECT_EQ(::send(client->get(), "x", 1, 0), 1);
        pollfd ready{server->get(), POLLIN, 0};
        ASSERT_EQ(::poll(&ready, 1, 10000), 1);
        char byte = 0;
        EXPECT_EQ(::recv(server->get(), &byte, 1, 0), 1);
        EXPECT_EQ(byte, 'x');
        auto none = listener->accept();
        ASSERT_TRUE(none);
        EXPECT_FALSE(*none);
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(UnixSocketTest, ATryFindsWhoListensAndNobodyElse) {
    auto nobody = try_connect_unix(path);
    ASSERT_TRUE(nobody) << nobody.error().message;
    EXPECT_FALSE(*nobody);
    auto listener = UnixListener::open(path);
    ASSERT_TRUE(listener);
    auto client = try_connect_unix(path);
    ASSERT_TRUE(client) << client.error().message;
    ASSERT_TRUE(*client);
    char byte = 0;
    EXPECT_EQ(::recv(client->get(), &byte, 1, 0), -1) << "it never blocks";
    EXPECT_EQ(errno, EAGAIN);
    EXPECT_FALSE(try_connect_unix(std::string(200, 'x')));
}

TEST_F(UnixSocketTest, ALiveServerIsNotReplaced) {
    auto first = UnixListener::open(path);
    ASSERT_TRUE(first);
    auto second = UnixListener::open(path);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().message, path + " is in use by a running server");
    EXPECT_TRUE(connect_unix(path, 0ms)) << "the first one goes on";
}

TEST_F(UnixSocketTest, AStaleFileIsReplaced) {
    {
        auto listener = UnixListener::open(path);
        ASSERT_TRUE(listener);
        std::filesystem::rename(path, path + "-kept");
    }
    std::filesystem::rename(path + "-kept", path);
    auto listener = UnixListener::open(path);
    ASSERT_TRUE(listener) << listener.error().message;
    EXPECT_TRUE(connect_unix(path, 0ms));
}

TEST_F(UnixSocketTest, AnotherKindOfFileIsLeftAlone) {
    std::ofstream(path) << "precious";
    auto listener = UnixListener::open(path);
    ASSERT_FALSE(listener);
    EXPECT_EQ(listener.error().message, path + " exists and is not a socket");
    EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(UnixSocketTest, PathsThatDoNotFitAreRefused) {
    EXPECT_FALSE(UnixListener::open(std::string(200, 'a')));
    EXPECT_FALSE(UnixListener::open(""));
    EXPECT_FALSE(connect_unix(std::string(108, 'a'), 0ms));
    EXPECT_FALSE(UnixListener::open((folder.root() / "missing" / "s").string()));
}

TEST_F(UnixSocketTest, ConnectWaitsForTheServerAndGivesUp) {
    const auto begin = std::chrono::steady_clock::now();
    auto nobody = connect_unix(path, 50ms);
    ASSERT_FALSE(nobody);
    EXPECT_NE(nobody.error().message.find("within 50 ms"), std::string::npos);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 40ms);

    std::thread connecting([this] { EXPECT_TRUE(connect_unix(path, 10s)); });
    auto listener = UnixListener::open(path);
    EXPECT_TRUE(listener);
    connecting.join();
}

TEST_F(UnixSocketTest, AnOrderlyCloseIsAnEndAndNotAReset) {
    std::array<int, 2> pair{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()), 0);
    const Fd peer(pair[0]);
    ASSERT_EQ(::send(peer.get(), "unread", 6, 0), 6);
    close_orderly(Fd(pair[1]));
    char byte = 0;
    EXPECT_EQ(::recv(peer.get(), &byte, 1, 0), 0);
}

}  // namespace
}  // namespace hp
