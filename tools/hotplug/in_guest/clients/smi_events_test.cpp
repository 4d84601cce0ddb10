// SPDX-License-Identifier: GPL-2.0
// Purpose: that an SMI event tells of the loss of its GPU alone.
// Thread: one.
#include "hotplug/in_guest/clients/smi_events.h"

#include <gtest/gtest.h>

namespace hp::clients {
namespace {

TEST(SmiEvents, LossOfOneGpuIsTold) {
    EXPECT_TRUE(tells_of_loss("e d431\n", 0xd431));
    EXPECT_TRUE(tells_of_loss("c 1f sh\n9 12 -31 d431 2\ne d431\n", 0xd431));
    EXPECT_FALSE(tells_of_loss("", 0xd431));
    EXPECT_FALSE(tells_of_loss("e d432\n", 0xd431)) << "another GPU's";
    EXPECT_FALSE(tells_of_loss("f d431\n", 0xd431)) << "its arrival";
    EXPECT_FALSE(tells_of_loss("3 e d431\n", 0xd431));
}

}  // namespace
}  // namespace hp::clients
