// SPDX-License-Identifier: GPL-2.0
// Purpose: tests for kernel_identity.h.
// Thread: one.
#include "hotplug/sweep/kernel_identity.h"

#include <gtest/gtest.h>

#include "lib/temp_tree.h"

namespace hotplug {
namespace {

constexpr const char* module = "drivers/gpu/drm/amd/amdgpu/amdgpu.ko";

class KernelIdentityTest : public testing::Test {
protected:
    KernelIdentityTest() {
        for (const char* tree : {"a/", "b/"}) {
            tree_.file(std::string(tree) + "bzImage", "kernel");
            tree_.file(std::string(tree) + module, "driver");
        }
        tree_.file("image", "programs");
    }
    std::string identity(const char* tree) {
        const auto found = kernel_identity(tree_.root() / tree / "bzImage", tree_.root() / tree,
                                           tree_.root() / "image");
        EXPECT_TRUE(found) << found.error().message;
        return found.value_or("");
    }

    hp::TempTree tree_;
};

TEST_F(KernelIdentityTest, IsOfTheContentAndNotOfThePath) {
    const std::string before = identity("a");
    EXPECT_EQ(before.size(), 33U);
    EXPECT_EQ(identity("b"), before);
    tree_.file(std::string("a/") + module, "driver, built anew");
    EXPECT_NE(identity("a"), before);
    tree_.file("b/bzImage", "kernel, built anew");
    EXPECT_NE(identity("b"), before);
}

TEST_F(KernelIdentityTest, TakesTheGuestImageWhereThereIsNoTree) {
    tree_.file("c/bzImage", "kernel");
    const std::string before = identity("c");
    tree_.file("image", "programs and another driver");
    EXPECT_NE(identity("c"), before);
    const std::string tree = identity("a");
    tree_.file("image", "programs");
    EXPECT_EQ(identity("a"), tree) << "a client that was rebuilt makes no other kernel";
}

TEST_F(KernelIdentityTest, FileThatCannotBeReadIsAnError) {
    const std::filesystem::path files[] = {tree_.root() / "nowhere"};
    const auto key = content_key(files);
    ASSERT_FALSE(key);
    EXPECT_NE(key.error().message.find("nowhere"), std::string::npos);
    const std::filesystem::path empty[] = {tree_.root() / "empty"};
    tree_.file("empty", "");
    EXPECT_EQ(content_key(empty).value_or(""), "cbf29ce484222325");
}

}  // namespace
}  // namespace hotplug
