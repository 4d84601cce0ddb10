// SPDX-License-Identifier: GPL-2.0
// Purpose: that no message is lost or cut, and that too many are held back.
// Thread: one.
#include "hotplug/in_guest/agent/out_queue.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "lib/fd.h"
#include "lib/json_line.h"

namespace hp::agent {
namespace {

using nlohmann::json;

class OutQueueTest : public ::testing::Test {
protected:
    void SetUp() override {
        int ends[2];
        ASSERT_EQ(::pipe2(ends, O_NONBLOCK), 0);
        read_end_.reset(ends[0]);
        write_end_.reset(ends[1]);
    }

    std::string drain() {
        std::string all;
        std::array<char, 4096> bytes;
        for (ssize_t n; (n = ::read(read_end_.get(), bytes.data(), bytes.size())) > 0;) {
            all.append(bytes.data(), static_cast<std::size_t>(n));
        }
        return all;
    }

    OutQueue queue_;
    Fd read_end_;
    Fd write_end_;
};

TEST_F(OutQueueTest, WritesOneObjectPerLine) {
    queue_.push({{"a", 1}});
    queue_.push({{"b", "x\ny"}});
    ASSERT_TRUE(queue_.flush(write_end_.get()));
    EXPECT_TRUE(queue_.empty());
    EXPECT_EQ(drain(), "{\"a\":1}\n{\"b\":\"x\\ny\"}\n");
}

TEST_F(OutQueueTest, ReplacesWhatIsNotUtf8) {
    queue_.push({{"a", "\xff"}});
    ASSERT_TRUE(queue_.flush(write_end_.get()));
    EXPECT_EQ(json::parse(drain())["a"], "\xef\xbf\xbd");
}

TEST_F(OutQueueTest, KeepsWhatThePeerDoesNotTakeAndIsFullThen) {
    const json message = {{"text", std::string(64 << 10, 'x')}};
    while (!queue_.full()) {
        queue_.push(message);
    }
    ASSERT_TRUE(queue_.flush(write_end_.get()));
    EXPECT_FALSE(queue_.empty());
    std::string received = drain();
    while (!queue_.empty()) {
        ASSERT_TRUE(queue_.flush(write_end_.get()));
        received += drain();
    }
    EXPECT_FALSE(queue_.full());
    EXPECT_GE(received.size(), OutQueue::high_water);
    EXPECT_EQ(received.size() % (message.dump().size() + 1), 0u);
}

TEST_F(OutQueueTest, RestartsALineHalfSent) {
    const json message = {{"text", std::string(200 << 10, 'x')}};
    queue_.push(message);
    ASSERT_TRUE(queue_.flush(write_end_.get()));
    ASSERT_FALSE(queue_.empty());
    drain();
    queue_.restart_line();
    std::string received;
    while (!queue_.empty()) {
        ASSERT_TRUE(queue_.flush(write_end_.get()));
        received += drain();
    }
    EXPECT_EQ(received, message.dump() + '\n');
}

TEST_F(OutQueueTest, RefusesALineOverTheLimitByName) {
    queue_.push({{"id", 7}, {"ok", true}, {"data", std::string(json_line_limit, 'x')}});
    ASSERT_TRUE(queue_.flush(write_end_.get()));
    const json sent = json::parse(drain());
    EXPECT_EQ(sent["id"], 7);
    EXPECT_EQ(sent["ok"], false);
    EXPECT_NE(sent["error"].get<std::string>().find("limit"), std::string::npos);
}

TEST_F(OutQueueTest, AClosedPeerIsAnError) {
    const Fd file(::open("/dev/null", O_RDONLY));
    queue_.push({{"a", 1}});
    EXPECT_FALSE(queue_.flush(file.get()));
    EXPECT_FALSE(queue_.empty());
}

}  // namespace
}  // namespace hp::agent
