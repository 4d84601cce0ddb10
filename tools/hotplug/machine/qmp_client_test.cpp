// SPDX-License-Identifier: GPL-2.0
// Purpose: the QMP client against a fake QEMU: greeting, results, errors, events in between, the
// end. Thread: the fake's and the client's own.
#include "hotplug/machine/qmp_client.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "hotplug/base/fake_server_for_test.h"

namespace hotplug {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

const std::string greeting = R"({"QMP":{"version":{"qemu":{"major":11}},"capabilities":[]}})"
                             "\r\n";

std::string event(const std::string& name, const json& data) {
    return json{{"event", name}, {"data", data}}.dump() + "\r\n";
}

// Answers as QEMU does, with an event before each answer.
std::string qemu(const std::string& line) {
    json request = json::parse(line);
    json answer{{"id", request["id"]}};
    std::string command = request["execute"];
    if (command == "device_del" && request["arguments"]["id"] == "none") {
        answer["error"] = {{"class", "DeviceNotFound"}, {"desc", "Device 'none' not found"}};
    } else if (command == "human-monitor-command") {
        answer["return"] = "OK id: rp0\r\n";
    } else if (command == "silence") {
        return "";
    } else {
        answer["return"] = json::object();
    }
    return event("NOISE", {{"command", command}}) + answer.dump() + "\r\n";
}

class QmpClientTest : public testing::Test {
protected:
    QmpClientTest()
        : server_(qemu, [] { return greeting; }), logs_(TemporaryDirectory::make().value()) {
        auto client = QmpClient::connect(server_.path(), log(), Deadline::after(seconds(10)));
        if (client) {
            client_ = std::move(*client);
        }
    }
    std::filesystem::path log() const { return logs_.path() / "qmp.log"; }
    void SetUp() override { ASSERT_TRUE(client_); }

    FakeServer server_;
    TemporaryDirectory logs_;
    std::unique_ptr<QmpClient> client_;
};

TEST_F(QmpClientTest, NegotiatesFirst) {
    ASSERT_FALSE(server_.packets().empty());
    EXPECT_EQ(json::parse(server_.packets().front())["execute"], "qmp_capabilities");
}

TEST_F(QmpClientTest, ReturnsResults) {
    auto result = client_->execute("query-status");
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_TRUE(result->is_object());
    EXPECT_EQ(client_->human("info pci").value(), "OK id: rp0\r\n");
}

TEST_F(QmpClientTest, FailsWithQemusWords) {
    auto result = client_->execute("device_del", {{"id", "none"}});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().message, "QEMU refused device_del: Device 'none' not found");
}

TEST_F(QmpClientTest, KeepsEventsThatComeBetween) {
    ASSERT_TRUE(client_->execute("query-status"));
    auto found = client_->find_event(0, [](const QmpEvent& event) {
        return event.name == "NOISE" && event.data["command"] == "query-status";
    });
    EXPECT_TRUE(found);
    EXPECT_FALSE(client_->find_event(client_->event_count(), [](auto&) { return true; }));
}

TEST_F(QmpClientTest, WaitsForAnEvent) {
    size_t from = client_->event_count();
    server_.say(event("DEVICE_DELETED", {{"path", "/machine/peripheral/gpu0/x"}}));
    server_.say(event("DEVICE_DELETED", {{"device", "gpu1"}}));
    server_.say(event("DEVICE_DELETED", {{"device", "gpu0"}}));
    auto deleted =
        client_->wait_event(from, device_deleted("gpu0"), "gpu0", Deadline::after(seconds(10)));
    ASSERT_TRUE(deleted) << deleted.error().message;
    EXPECT_EQ(deleted->data["device"], "gpu0");
    EXPECT_EQ(client_->event_count(), from + 3);
}

TEST_F(QmpClientTest, NamesWhatDidNotCome) {
    auto event = client_->wait_event(0, device_deleted("gpu0"), "DEVICE_DELETED of gpu0",
                                     Deadline::after(milliseconds(20)));
    ASSERT_FALSE(event);
    EXPECT_NE(event.error().message.find("for DEVICE_DELETED of gpu0"), std::string::npos);
    auto answer = client_->execute("silence", json::object(), Deadline::after(milliseconds(20)));
    ASSERT_FALSE(answer);
    EXPECT_NE(answer.error().message.find("QEMU's answer to silence"), std::string::npos);
}

TEST_F(QmpClientTest, QemusEndEndsEveryWait) {
    server_.hang_up();
    auto event = client_->wait_event(0, device_deleted("gpu0"), "it", Deadline::after(seconds(10)));
    ASSERT_FALSE(event);
    EXPECT_EQ(event.error().message, "QEMU ended while waiting for it");
    auto answer = client_->execute("query-status");
    ASSERT_FALSE(answer);
    EXPECT_NE(answer.error().message.find("QEMU: "), std::string::npos);
}

TEST_F(QmpClientTest, RubbishEndsTheConversation) {
    server_.say("no json\n");
    auto event = client_->wait_event(0, device_deleted("gpu0"), "it", Deadline::after(seconds(10)));
    ASSERT_FALSE(event);
    auto answer = client_->execute("query-status");
    ASSERT_FALSE(answer);
    EXPECT_NE(answer.error().message.find("does not speak the protocol"), std::string::npos);
}

TEST_F(QmpClientTest, LogsBothDirections) {
    ASSERT_TRUE(client_->execute("query-status"));
    std::stringstream text;
    text << std::ifstream(log()).rdbuf();
    EXPECT_NE(text.str().find("-> {\"execute\":\"query-status\""), std::string::npos);
    EXPECT_NE(text.str().find("<- {\"QMP\""), std::string::npos);
}

TEST(QmpClient, NobodyListens) {
    auto directory = TemporaryDirectory::make().value();
    auto client = QmpClient::connect(directory.path() / "qmp", directory.path() / "log",
                                     Deadline::after(milliseconds(20)));
    ASSERT_FALSE(client);
    EXPECT_NE(client.error().message.find("a listener on"), std::string::npos);
}

TEST(QmpClient, ServerThatDoesNotGreet) {
    FakeServer server([](const std::string&) { return ""; });
    auto directory = TemporaryDirectory::make().value();
    auto client = QmpClient::connect(server.path(), directory.path() / "log",
                                     Deadline::after(milliseconds(50)));
    ASSERT_FALSE(client);
    EXPECT_NE(client.error().message.find("greeting"), std::string::npos);
}

}  // namespace
}  // namespace hotplug
