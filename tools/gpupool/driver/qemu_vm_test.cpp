// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of the names by which boards and VMs are found again, of what is no definition of
// a VM, and of what is said to QEMU, the slot and the guest when a board goes in and out.
// Thread: the test's and the fakes'.
#include "gpupool/driver/qemu_vm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "gpupool/driver/fake_vm_for_test.h"
#include "lib/temp_tree.h"

namespace gpupool {
namespace {

using namespace std::chrono_literals;
using Done = std::vector<std::string>;

TEST(BoardId, NameLeadsBack) {
    const BoardId id{.serial = 0xe01, .epoch = 5};
    EXPECT_EQ(id.name(), "gp-E01-5");
    EXPECT_EQ(BoardId::parse("gp-E01-5"), id);
    const BoardId largest{.serial = UINT64_MAX, .epoch = UINT64_MAX};
    EXPECT_EQ(BoardId::parse(largest.name()), largest);
    for (const char* other : {"", "gp", "gp-", "gp-5", "gp--5", "gp-E01-", "gp-e01-5", "gp-E01-05",
                              "gp-E01-5x", "rp0", "gp-10000000000000000-1", "xgp-E01-5"}) {
        EXPECT_FALSE(BoardId::parse(other)) << other;
    }
}

TEST(QemuVmId, FolderLeadsBack) {
    const auto id =
        QemuVm::Id::parse(QemuVm::Id{.name = "train.1", .incarnation = 12}.folder_name());
    ASSERT_TRUE(id);
    EXPECT_EQ(id->name, "train.1");
    EXPECT_EQ(id->incarnation, 12u);
    for (const char* other : {"", "train", "train@", "train@x", "train@1x"}) {
        EXPECT_FALSE(QemuVm::Id::parse(other)) << other;
    }
}

TEST(VmDefinition, NeedsAKernelAndAnInitrdThatAreThere) {
    hp::TempTree folder;
    folder.file("bzImage", "");
    folder.file("initrd", "");
    const auto definition = [&](const std::string& rest) {
        return R"({"kernel": ")" + (folder.root() / "bzImage").string() + R"(")" + rest + "}";
    };
    const std::string initrd = R"(, "initrd": ")" + (folder.root() / "initrd").string() + R"(")";
    const auto good = machine_of(definition(initrd + R"(, "memory_mib": 2048, "cpus": 3)"));
    ASSERT_TRUE(good) << good.error().message;
    EXPECT_EQ(good->memory_mib, 2048u);
    EXPECT_EQ(good->cpus, 3u);
    EXPECT_TRUE(good->slots.empty());
    EXPECT_FALSE(machine_of("{}"));
    EXPECT_FALSE(machine_of("[]"));
    EXPECT_FALSE(machine_of("no"));
    EXPECT_FALSE(machine_of(definition("")));
    EXPECT_FALSE(machine_of(definition(R"(, "initrd": "initrd")"))) << "relative to what?";
    EXPECT_FALSE(machine_of(definition(initrd + R"(, "cpus": "two")")));
}

class RunningVmTest : public testing::Test {
protected:
    void SetUp() override {
        auto vm = QemuVm::find(fake_.folder(), fake_.id, 2);
        ASSERT_TRUE(vm) << vm.error().message;
        ASSERT_TRUE(*vm);
        vm_ = std::move(*vm);
        auto board = EmulatedBoard::find({.emulator = {}, .folder = fake_.folder()}, fake_.board);
        ASSERT_TRUE(board) << board.error().message;
        ASSERT_TRUE(*board);
        board_ = std::move(*board);
        name_ = fake_.board.name();
    }
    std::map<std::string, unsigned> boards() { return vm_->boards().value(); }

    FakeVm fake_;
    std::unique_ptr<QemuVm> vm_;
    std::unique_ptr<EmulatedBoard> board_;
    std::string name_;
};

TEST_F(RunningVmTest, IsFoundByItsLockAndGoesOn) {
    EXPECT_EQ(fake_.done(), (Done{"qmp_capabilities", "cont"}));
    EXPECT_TRUE(vm_->running());
    const auto other = QemuVm::find(fake_.folder(), {"train", 4}, 2);
    ASSERT_TRUE(other);
    EXPECT_EQ(*other, nullptr) << "a later one of that name does not run";
    const auto all = QemuVm::all(fake_.folder());
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all.front().folder_name(), "train@3");
}

TEST_F(RunningVmTest, ABoardIsPluggedOnceAndTheGuestHasItThen) {
    const auto plugged = vm_->plug(*board_, 0);
    ASSERT_TRUE(plugged) << plugged.error().message;
    const Done once{"qmp_capabilities", "cont", "stop", "device_add", "writew 0xb002006e", "cont"};
    EXPECT_EQ(fake_.done(), once);
    EXPECT_EQ(boards(), (std::map<std::string, unsigned>{{name_, 0}}));
    ASSERT_TRUE(vm_->plug(*board_, 0));
    EXPECT_EQ(fake_.done(), once) << "a step that is repeated finds it there";
}

TEST_F(RunningVmTest, ABoardThatBreaksWhileTheGuestProbesItIsToBlame) {
    fake_.has_driver = false;
    fake_.lose_board();
    const auto plugged = vm_->plug(*board_, 0);
    ASSERT_FALSE(plugged);
    EXPECT_EQ(plugged.error().blame, Blame::board);
    EXPECT_EQ(plugged.error().message, "it does not answer any more");
}

TEST_F(RunningVmTest, TheGuestPowersASlotOff) {
    fake_.add(name_, "rp0");
    ASSERT_TRUE(vm_->unplug(name_, 0, 10s));
    EXPECT_EQ(fake_.done().back(), "guest writes 0 to /sys/bus/pci/slots/1/power");
    EXPECT_TRUE(boards().empty());
}

TEST_F(RunningVmTest, ALateUnplugIsOfABoardThatIsNotThere) {
    fake_.add(BoardId{.serial = 0xe01, .epoch = 6}.name(), "rp0");
    const Done before = fake_.done();
    ASSERT_TRUE(vm_->unplug(name_, 0, 10s));
    ASSERT_TRUE(vm_->tear_out(name_, 0));
    EXPECT_EQ(fake_.done(), before);
    EXPECT_EQ(boards().size(), 1u);
}

TEST_F(RunningVmTest, ABoardThatTheGuestKeepsIsTornOut) {
    fake_.add(name_, "rp0");
    fake_.lets_go = false;
    const auto out = vm_->unplug(name_, 0, 1s);
    ASSERT_FALSE(out);
    EXPECT_NE(out.error().message.find("Device busy"), std::string::npos) << out.error().message;
    ASSERT_TRUE(vm_->tear_out(name_, 0));
    EXPECT_EQ(fake_.done().back(), "writew 0xb002006c");
    EXPECT_TRUE(boards().empty());
}

TEST_F(RunningVmTest, ASlotIsUsedAgainOnceTheGuestHasPutItAway) {
    fake_.add(BoardId{.serial = 0xe02, .epoch = 1}.name(), "rp0");
    fake_.puts_away = false;
    ASSERT_TRUE(vm_->tear_out(BoardId{.serial = 0xe02, .epoch = 1}.name(), 0));
    bool too_early = false;
    std::jthread guest([&] {
        hotplug::Deadline::after(300ms).pause(300ms);
        too_early = std::ranges::count(fake_.done(), "device_add") != 0;
        fake_.puts_away = true;
        fake_.put_away();
    });
    const auto plugged = vm_->plug(*board_, 0);
    guest.join();
    EXPECT_TRUE(plugged) << plugged.error().message;
    EXPECT_FALSE(too_early) << "the guest's last write to the slot takes it out again";
}

TEST_F(RunningVmTest, ABoardThatTheGuestPutsOutAgainIsNotToBlame) {
    fake_.has_driver = false;
    std::jthread guest([&] {
        hotplug::Deadline::after(300ms).pause(300ms);
        fake_.put_away();
    });
    const auto plugged = vm_->plug(*board_, 0);
    ASSERT_FALSE(plugged);
    EXPECT_EQ(plugged.error().blame, Blame::vm) << "it is tried again";
    EXPECT_EQ(plugged.error().message, "the guest has switched the slot off");
}

TEST_F(RunningVmTest, AnAgentThatIsSilentIsNotWaitedForForEver) {
    fake_.add(name_, "rp0");
    fake_.answers = false;
    EXPECT_FALSE(vm_->unplug(name_, 0, 1s));
    EXPECT_EQ(boards().size(), 1u);
}

TEST_F(RunningVmTest, WithItsMonitorAVmIsLostAndItsProcessHasToEnd) {
    fake_.lose_monitor();
    for (int i = 0; i < 1000 && vm_->running(); ++i) {
        hotplug::Deadline::after(10ms).pause(10ms);
    }
    EXPECT_FALSE(vm_->running());
    EXPECT_FALSE(vm_->boards());
    ASSERT_TRUE(QemuVm::end(fake_.folder(), fake_.id));
    EXPECT_FALSE(hotplug::detached_process(fake_.lock()));
    EXPECT_TRUE(QemuVm::end(fake_.folder(), fake_.id)) << "it has";
}

}  // namespace
}  // namespace gpupool
