// SPDX-License-Identifier: GPL-2.0
// Purpose: that the port is found by its name.
// Thread: one.
#include "hotplug/in_guest/agent/port.h"

#include <gtest/gtest.h>

#include "lib/temp_tree.h"

namespace hp::agent {
namespace {

using std::chrono_literals::operator""ms;

TEST(Port, IsFoundByName) {
    TempTree tree;
    tree.file("sys/class/virtio-ports/vport0p1/name", "com.redhat.spice.0\n");
    tree.file("sys/class/virtio-ports/vport0p2/name", "org.amdgpu-hotplug.agent\n");
    EXPECT_EQ(find_port(tree.root(), "org.amdgpu-hotplug.agent").value(),
              tree.root() / "dev/vport0p2");
    EXPECT_FALSE(find_port(tree.root(), "org.other"));
}

TEST(Port, IsOpened) {
    TempTree tree;
    tree.file("sys/class/virtio-ports/vport1p1/name", "p\n");
    tree.file("dev/vport1p1", "");
    const auto port = open_port(tree.root(), "p", 0ms);
    ASSERT_TRUE(port);
    EXPECT_TRUE(*port);
}

TEST(Port, ErrorsTellWhatIsMissing) {
    TempTree tree;
    EXPECT_NE(open_port(tree.root(), "p", 0ms).error().message.find("named p"), std::string::npos);
    tree.file("sys/class/virtio-ports/vport1p1/name", "p\n");
    EXPECT_NE(open_port(tree.root(), "p", 0ms).error().message.find("cannot open"),
              std::string::npos);
}

}  // namespace
}  // namespace hp::agent
