// SPDX-License-Identifier: GPL-2.0
// Purpose: that values arrive whatever the chunks, and that a peer without manners is given up.
// Thread: one, and the peer's of a test.
#include "lib/json_connection.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace hp {
namespace {

class JsonConnectionTest : public testing::Test {
protected:
    void SetUp() override {
        std::array<int, 2> pair{};
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
        peer.reset(pair[0]);
        connection = std::make_unique<JsonConnection>(loop, Fd(pair[1]),
                                                      JsonConnection::Handlers{
                                                          .on_line =
                                                              [this](Result<nlohmann::json> line) {
                                                                  lines.push_back(std::move(line));
                                                                  if (lines.size() == wanted) {
                                                                      loop.stop();
                                                                  }
                                                              },
                                                          .on_end =
                                                              [this](const std::string& reason) {
                                                                  ended = reason;
                                                                  connection.reset();
                                                                  loop.stop();
                                                              },
                                                      });
    }

    void write_from_peer(const std::string& text) {
        ASSERT_EQ(::send(peer.get(), text.data(), text.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(text.size()));
    }

    EventLoop loop;
    Fd peer;
    std::unique_ptr<JsonConnection> connection;
    std::vector<Result<nlohmann::json>> lines;
    size_t wanted = 0;
    std::optional<std::string> ended;
};

TEST_F(JsonConnectionTest, LinesArriveWhateverTheChunks) {
    wanted = 3;
    write_from_peer("{\"id\":1}\n{\"id\":");
    auto rest = loop.after(std::chrono::milliseconds(1), [this] { write_from_peer("2}\n[3]\n"); });
    loop.run();
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ((*lines[0])["id"], 1);
    EXPECT_EQ((*lines[1])["id"], 2);
    EXPECT_EQ((*lines[2])[0], 3);
}

TEST_F(JsonConnectionTest, RubbishIsReportedAndTheConnectionGoesOn) {
    wanted = 2;
    write_from_peer("rubbish\n{}\n");
    loop.run();
    ASSERT_EQ(lines.size(), 2u);
    ASSERT_FALSE(lines[0]);
    EXPECT_EQ(lines[0].error().message, "not a JSON value: 'rubbish'");
    EXPECT_TRUE(lines[1]);
}

TEST_F(JsonConnectionTest, TheEndIsReportedOnce) {
    peer.reset();
    loop.run();
    ASSERT_TRUE(ended);
    EXPECT_EQ(*ended, "");
}

TEST_F(JsonConnectionTest, ALineWithoutEndIsCutOff) {
    std::thread writer([this] {
        const std::string text(json_line_limit + 2, 'x');
        ::send(peer.get(), text.data(), text.size(), MSG_NOSIGNAL);
    });
    loop.run();
    writer.join();
    ASSERT_TRUE(ended);
    EXPECT_EQ(*ended, "a line of more than 1048576 bytes");
}

TEST_F(JsonConnectionTest, APeerThatDoesNotReadIsGivenUp) {
    const nlohmann::json big = std::string(1 << 20, 'x');
    for (int i = 0; i < 6; ++i) {
        connection->send(big);
    }
    loop.run();
    ASSERT_TRUE(ended);
    EXPECT_EQ(*ended, "the peer does not read");
}

TEST_F(JsonConnectionTest, WhatDoesNotFitIsSentLater) {
    const nlohmann::json big = std::string(1 << 20, 'x');
    connection->send(big);
    EXPECT_GT(connection->unsent(), 0u);
    size_t total = 0;
    std::thread reader([&] {
        std::array<char, 65536> chunk{};
        while (total < (1u << 20) + 3) {
            const ssize_t got = ::recv(peer.get(), chunk.data(), chunk.size(), 0);
            ASSERT_GT(got, 0);
            total += static_cast<size_t>(got);
        }
        loop.stop();
    });
    loop.run();
    reader.join();
    EXPECT_EQ(total, (1u << 20) + 3) << "quotes and a line end around the text";
    EXPECT_EQ(connection->unsent(), 0u);
}

}  // namespace
}  // namespace hp
