// SPDX-License-Identifier: GPL-2.0
// Purpose: KVM is asked once, and again when the host has booted or the answer is lost.
// Thread: one.
#include "hotplug/machine/kvm_probe.h"

#include <gtest/gtest.h>

#include <fstream>

#include "hotplug/base/deadline.h"
#include "hotplug/base/temporary_directory.h"

namespace hotplug {
namespace {

class KvmMemoryTest : public testing::Test {
protected:
    hp::Result<void> recall(const std::string& subject) {
        return KvmMemory(file_, subject).recall_or([&]() -> hp::Result<void> {
            ++asked_;
            return works_ ? hp::Result<void>() : hp::fail("no hello\nwithin 10 s");
        });
    }

    TemporaryDirectory directory_ = TemporaryDirectory::make().value();
    std::filesystem::path file_ = directory_.path() / "cache/kvm";
    bool works_ = true;
    int asked_ = 0;
};

TEST_F(KvmMemoryTest, AsksOnce) {
    EXPECT_TRUE(recall("boot 1 qemu"));
    works_ = false;
    EXPECT_TRUE(recall("boot 1 qemu"));
    EXPECT_EQ(asked_, 1);
}

TEST_F(KvmMemoryTest, RemembersAFailureWithItsReason) {
    works_ = false;
    EXPECT_FALSE(recall("boot 1 qemu"));
    works_ = true;
    const auto recalled = recall("boot 1 qemu");
    ASSERT_FALSE(recalled);
    EXPECT_EQ(recalled.error().message, "no hello within 10 s");
    EXPECT_EQ(asked_, 1);
}

TEST_F(KvmMemoryTest, AsksAgainOfAnotherSubject) {
    works_ = false;
    EXPECT_FALSE(recall("boot 1 qemu"));
    works_ = true;
    EXPECT_TRUE(recall("boot 2 qemu"));
    EXPECT_EQ(asked_, 2);
}

TEST_F(KvmMemoryTest, AnswerOfAQuestionThatWasInterruptedIsNotKept) {
    works_ = false;
    Deadline::interrupt_all();
    EXPECT_FALSE(recall("boot 1 qemu"));
    Deadline::clear_interruption();
    works_ = true;
    EXPECT_TRUE(recall("boot 1 qemu"));
    EXPECT_EQ(asked_, 2);
}

TEST_F(KvmMemoryTest, FileThatIsNoneOfItsOwnIsReplaced) {
    std::filesystem::create_directories(file_.parent_path());
    std::ofstream(file_) << "boot 1 qemu";  // a write that was cut short
    EXPECT_TRUE(recall("boot 1 qemu"));
    EXPECT_TRUE(recall("boot 1 qemu"));
    EXPECT_EQ(asked_, 1);
}

TEST_F(KvmMemoryTest, FileThatCannotBeWrittenIsNoFailure) {
    std::ofstream(directory_.path() / "cache") << "a file, and no folder";
    EXPECT_TRUE(recall("boot 1 qemu"));
    EXPECT_TRUE(recall("boot 1 qemu"));
    EXPECT_EQ(asked_, 2);
}

TEST(KvmProbe, QemuThatEndsIsOfNoUse) {
    const auto directory = TemporaryDirectory::make().value();
    ::setenv("XDG_CACHE_HOME", directory.path().c_str(), 1);
    MachineConfig config;
    config.kernel = config.initrd = directory.path() / "image";
    std::ofstream(config.kernel) << "image";
    config.qemu.command = {{"false"}, {}};
    EXPECT_FALSE(kvm_is_of_use(config));
}

}  // namespace
}  // namespace hotplug
