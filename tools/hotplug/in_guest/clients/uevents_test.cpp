// SPDX-License-Identifier: GPL-2.0
// Purpose: that uevents are taken apart as the kernel puts them together.
// Thread: one.
#include "hotplug/in_guest/clients/uevents.h"

#include <gtest/gtest.h>

namespace hp::clients {
namespace {

using namespace std::string_view_literals;

TEST(Uevents, MembersAreTakenFromAKernelMessage) {
    const auto event = parse_uevent(
        "change@/devices/virtual/kfd/kfd\0ACTION=change\0SUBSYSTEM=kfd\0GPU_EVENT=arrived\0"
        "GPU_ID=4711\0SEQNUM=9\0"sv);
    ASSERT_TRUE(event);
    EXPECT_EQ(member(*event, "SUBSYSTEM"), "kfd");
    EXPECT_EQ(member(*event, "GPU_EVENT"), "arrived");
    EXPECT_EQ(member(*event, "GPU_ID"), "4711");
    EXPECT_EQ(member(*event, "absent"), "");
}

TEST(Uevents, AMessageWithoutItsLastNulIsRead) {
    const auto event = parse_uevent("add@/x\0SUBSYSTEM=drm"sv);
    ASSERT_TRUE(event);
    EXPECT_EQ(member(*event, "SUBSYSTEM"), "drm");
}

TEST(Uevents, MessagesOfUdevdAreNone) {
    EXPECT_FALSE(parse_uevent("libudev\0\xfe\xed\xca\xfe"sv));
    EXPECT_FALSE(parse_uevent(""sv));
}

}  // namespace
}  // namespace hp::clients
