// SPDX-License-Identifier: GPL-2.0
// Purpose: SysRq on the console, with fakes of QEMU's monitor and of the console.
// Thread: the fakes' and the client's own.
#include "hotplug/machine/sysrq.h"

#include <gtest/gtest.h>

#include <fstream>

#include "hotplug/base/fake_server_for_test.h"
#include "lib/temp_tree.h"

namespace hotplug {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

class SysrqTest : public testing::Test {
protected:
    SysrqTest()
        : qemu_(
              [this](const std::string& line) {
                  const json request = json::parse(line);
                  if (request["execute"] == "chardev-send-break" && ++breaks_ == 2) {
                      std::ofstream(log(), std::ios::app) << says_;
                  }
                  return json{{"id", request["id"]}, {"return", json::object()}}.dump() + "\r\n";
              },
              [] { return std::string(R"({"QMP":{"version":{},"capabilities":[]}})") + "\r\n"; }),
          console_([](const std::string&) { return ""; }) {
        tree_.file("console.log", "before\n");
        client_ = *QmpClient::connect(qemu_.path(), tree_.root() / "qmp.log",
                                      Deadline::after(std::chrono::seconds(10)));
    }
    std::filesystem::path log() const { return tree_.root() / "console.log"; }
    hp::Result<std::string> ask() {
        return sysrq_blocked_tasks(*client_, console_.path(), log(), milliseconds(200));
    }

    hp::TempTree tree_;
    int breaks_ = 0;
    std::string says_;
    FakeServer qemu_;
    FakeServer console_;
    std::unique_ptr<QmpClient> client_;
};

TEST_F(SysrqTest, ReturnsWhatTheKernelPrintsSince) {
    says_ = "task:sh state:D\n";
    const auto told = ask();
    ASSERT_TRUE(told) << told.error().message;
    EXPECT_EQ(*told, says_);
    std::string keys;
    for (const std::string& packet : console_.packets()) {
        keys += packet;
    }
    EXPECT_EQ(keys, "9w");
    EXPECT_EQ(breaks_, 2) << "a key without a break is a letter";
}

TEST_F(SysrqTest, KernelThatSaysNothingIsAFailure) {
    const auto told = ask();
    ASSERT_FALSE(told);
    EXPECT_EQ(told.error().message, "SysRq on the console: the kernel does not answer");
}

}  // namespace
}  // namespace hotplug
