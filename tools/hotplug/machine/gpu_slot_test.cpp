// SPDX-License-Identifier: GPL-2.0
// Purpose: what a slot asks of QEMU when a board is put in, and in which order, against a fake QMP
// and a fake configuration space. Thread: the fakes' and the test's.
#include "hotplug/machine/gpu_slot.h"

#include <gtest/gtest.h>

#include <mutex>

#include "hotplug/base/fake_server_for_test.h"
#include "hotplug/machine/fake_pci_for_test.h"

namespace hotplug {
namespace {

using std::chrono::seconds;

class GpuSlotPlugTest : public testing::Test {
protected:
    GpuSlotPlugTest() {
        pci_.poke(ecam_address(0, 4, 0x34), 0x54, 1);
        pci_.poke(ecam_address(0, 4, 0x54), 0x0010, 2);
        SlotConfig config;
        config.device = SlotDevice::nvme;
        slot_ = std::make_unique<GpuSlot>(0, config, GpuSlot::Environment{});
    }
    void SetUp() override {
        auto qmp = QmpClient::connect(qmp_server_.path(), logs_.path() / "qmp.log",
                                      Deadline::after(seconds(10)));
        auto qtest = QtestClient::connect(qtest_server_.path(), Deadline::after(seconds(10)));
        ASSERT_TRUE(qmp && qtest);
        qmp_ = std::move(*qmp);
        qtest_ = std::move(*qtest);
        slot_->attach(*qmp_, *qtest_);
        const std::lock_guard lock(mutex_);
        asked_.clear();
    }
    std::vector<std::string> asked() {
        const std::lock_guard lock(mutex_);
        return asked_;
    }

    std::vector<nlohmann::json> added() {
        const std::lock_guard lock(mutex_);
        return added_;
    }

    bool refuse_ = false;  ///< device_add

private:
    std::string answer_qmp(const std::string& line) {
        const auto request = nlohmann::json::parse(line);
        const std::lock_guard lock(mutex_);
        asked_.push_back(request["execute"]);
        if (request["execute"] == "device_add") {
            added_.push_back(request["arguments"]);
        }
        nlohmann::json answer{{"id", request["id"]}};
        if (refuse_ && request["execute"] == "device_add") {
            answer["error"] = {{"class", "GenericError"}, {"desc", "no room"}};
        } else {
            answer["return"] = nlohmann::json::object();
        }
        return answer.dump() + "\r\n";
    }
    std::string answer_qtest(const std::string& line) {
        const std::lock_guard lock(mutex_);
        if (line.starts_with("write")) {
            asked_.push_back(line);
        }
        return pci_.answer(line);
    }

    std::mutex mutex_;
    std::vector<std::string> asked_;
    std::vector<nlohmann::json> added_;
    FakePci pci_;
    TemporaryDirectory logs_ = TemporaryDirectory::make().value();
    FakeServer qmp_server_{
        [this](const std::string& line) { return answer_qmp(line); },
        [] {
            return std::string(R"({"QMP":{"version":{"qemu":{"major":11}},"capabilities":[]}})"
                               "\r\n"
                               R"({"event":"DEVICE_DELETED","data":{"device":"control0"},)"
                               R"("timestamp":{"seconds":0,"microseconds":0}})"
                               "\r\n");
        }};
    FakeServer qtest_server_{[this](const std::string& line) { return answer_qtest(line); }};
    std::unique_ptr<QmpClient> qmp_;
    std::unique_ptr<QtestClient> qtest_;

protected:
    std::unique_ptr<GpuSlot> slot_;
};

using Asked = std::vector<std::string>;

TEST_F(GpuSlotPlugTest, NoCpuSeesTheButtonThatQemuPresses) {
    ASSERT_TRUE(slot_->plug());
    EXPECT_EQ(asked(), (Asked{"stop", "device_add", "writew 0xb002006e 0x1", "cont"}));
    EXPECT_TRUE(slot_->plugged());
}

TEST_F(GpuSlotPlugTest, GuestGoesOnWhenTheBoardIsRefused) {
    refuse_ = true;
    const auto plugged = slot_->plug();
    ASSERT_FALSE(plugged);
    EXPECT_EQ(plugged.error().message, "QEMU refused device_add: no room");
    EXPECT_EQ(asked(), (Asked{"stop", "device_add", "cont"}));
}

TEST_F(GpuSlotPlugTest, SecondFunctionIsThereBeforeTheSlotReportsABoard) {
    ASSERT_TRUE(slot_->deleted());
    ASSERT_TRUE(slot_->prepare_board({.second_function = SecondFunction::driverless},
                                     Deadline::after(seconds(1))));
    ASSERT_TRUE(slot_->plug());
    ASSERT_EQ(added().size(), 2U);
    EXPECT_EQ(added()[0]["driver"], "pci-testdev");
    EXPECT_EQ(added()[0]["addr"], "0x0.0x1");
    EXPECT_EQ(added()[0]["bus"], added()[1]["bus"]);
    EXPECT_EQ(added()[1]["id"], slot_->device_id());
    EXPECT_EQ(added()[1]["multifunction"], true);
}

}  // namespace
}  // namespace hotplug
