// SPDX-License-Identifier: GPL-2.0
// Purpose: what the harness understands of an emulator's event that tells how a GPU vanished.
// Thread: the fake's and the test's. The rest of the protocol is tested in the emulator.
#include "hotplug/machine/emulator_client.h"

#include <gtest/gtest.h>

#include "hotplug/base/fake_server_for_test.h"

namespace hotplug {
namespace {

class EmulatorClientTest : public testing::Test {
protected:
    void SetUp() override {
        auto client = EmulatorClient::connect(server_.path(), "the emulator",
                                              Deadline::after(std::chrono::seconds(10)));
        ASSERT_TRUE(client) << client.error().message;
        client_ = std::move(*client);
    }
    hp::Result<Vanishing> after(const std::string& event) {
        const uint64_t earlier = client_->event_count("vanished");
        server_.say(event + "\n");
        EXPECT_TRUE(
            client_->wait_event("vanished", earlier, Deadline::after(std::chrono::seconds(10))));
        return client_->last_vanishing();
    }

    FakeServer server_{[](const std::string&) { return std::string(); }};
    std::unique_ptr<EmulatorClient> client_;
};

TEST_F(EmulatorClientTest, TellsWhichAccessFoundNobody) {
    EXPECT_FALSE(client_->last_vanishing()) << "it has not vanished";
    const std::string prefix =
        R"("prefix": {"accesses": 2, "digest": "0d", "cpu_digest": "0c"}, "at": )";
    const std::string begin = R"({"event": "vanished", "accesses": 9, )" + prefix;
    auto named = after(
        begin + R"({"kind": "mmio_read", "region": 5, "offset": 4, "name": "regGRBM_STATUS"}})");
    ASSERT_TRUE(named) << named.error().message;
    EXPECT_EQ(named->accesses, 2U) << "since vanish_after, not since the client attached";
    EXPECT_EQ(named->digest, "0d");
    EXPECT_EQ(named->cpu_digest, "0c");
    EXPECT_EQ(named->at, "mmio_read of regGRBM_STATUS");
    EXPECT_EQ(
        after(begin + R"({"kind": "doorbell_write", "region": 2, "offset": 16, "name": ""}})")->at,
        "doorbell_write of region 2 offset 0x10");
    EXPECT_EQ(
        after(begin + R"({"kind": "dma_write", "region": 255, "offset": 4096, "name": ""}})")->at,
        "dma_write")
        << "the address is the guest's choice";
}

TEST_F(EmulatorClientTest, NobodyHadAskedForAnAccess) {
    const auto vanishing = after(R"({"event": "vanished", "accesses": 9})");
    ASSERT_TRUE(vanishing) << vanishing.error().message;
    EXPECT_EQ(vanishing->digest, "");
    EXPECT_EQ(vanishing->at, "");
}

TEST_F(EmulatorClientTest, RefusesWhatTheProtocolDoesNotSay) {
    EXPECT_FALSE(after(R"({"event": "vanished", "accesses": 9, "prefix": {}})"));
}

}  // namespace
}  // namespace hotplug
