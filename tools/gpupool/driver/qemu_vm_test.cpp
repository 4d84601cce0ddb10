// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of the names by which boards and VMs are found again, and of what is no definition
// of a VM.
// Thread: the test's.
#include "gpupool/driver/qemu_vm.h"

#include <gtest/gtest.h>

#include "lib/temp_tree.h"

namespace gpupool {
namespace {

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

}  // namespace
}  // namespace gpupool
