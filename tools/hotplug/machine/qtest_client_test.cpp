// SPDX-License-Identifier: GPL-2.0
// Purpose: the qtest client against a fake QEMU: one packet per execute(), values, refusals, the
// end. Thread: the fake's and the test's.
#include "hotplug/machine/qtest_client.h"

#include <gtest/gtest.h>

#include "hotplug/base/fake_server_for_test.h"
#include "hotplug/machine/fake_pci_for_test.h"

namespace hotplug {
namespace {

class QtestClientTest : public testing::Test {
protected:
    void SetUp() override {
        auto client =
            QtestClient::connect(server_.path(), Deadline::after(std::chrono::seconds(10)));
        ASSERT_TRUE(client) << client.error().message;
        client_ = std::move(*client);
    }

    FakePci pci_;
    FakeServer server_{[this](const std::string& line) {
        return line.ends_with("0xbad") ? "FAIL Unknown command\n" : pci_.answer(line);
    }};
    std::unique_ptr<QtestClient> client_;
};

TEST_F(QtestClientTest, ReadsWhatItWrote) {
    auto values =
        client_->execute({QtestClient::write32(0x1000, 0xdeadbeef), QtestClient::read8(0x1000),
                          QtestClient::read16(0x1002), QtestClient::write16(0x1000, 0x1234),
                          QtestClient::write8(0x1003, 0x56), QtestClient::read32(0x1000)});
    ASSERT_TRUE(values) << values.error().message;
    EXPECT_EQ(*values, (std::vector<uint64_t>{0, 0xef, 0xdead, 0, 0, 0x56ad1234}));
}

TEST_F(QtestClientTest, SendsAllCommandsAtOnce) {
    ASSERT_TRUE(client_->execute(
        {QtestClient::write16(0x10, 1), QtestClient::write16(0x10, 2), QtestClient::read8(0x10)}));
    EXPECT_EQ(server_.packets(),
              std::vector<std::string>{"writew 0x10 0x1\nwritew 0x10 0x2\nreadb 0x10\n"});
}

TEST_F(QtestClientTest, RefusesWhatWouldNotBeAtomic) {
    std::vector<std::string> commands(QtestClient::max_packet / 8, QtestClient::read32(0xb0000000));
    EXPECT_FALSE(client_->execute(commands));
    EXPECT_TRUE(server_.packets().empty());
}

TEST_F(QtestClientTest, NamesTheCommandThatFailed) {
    auto values = client_->execute({QtestClient::read32(0xbad)});
    ASSERT_FALSE(values);
    EXPECT_EQ(values.error().message, "qtest: 'readl 0xbad' was answered 'FAIL Unknown command'");
}

TEST_F(QtestClientTest, QemusEnd) {
    ASSERT_TRUE(client_->execute({QtestClient::read8(0)}));
    server_.hang_up();
    EXPECT_FALSE(client_->execute({QtestClient::read8(0)}));
}

}  // namespace
}  // namespace hotplug
