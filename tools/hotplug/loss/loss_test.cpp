// SPDX-License-Identifier: GPL-2.0
// Purpose: the names of the losses, and which of them leave the slot empty. The losses themselves
// need a guest. Thread: one.
#include "hotplug/loss/loss.h"

#include <gtest/gtest.h>

#include <set>

namespace hotplug {
namespace {

TEST(LossTest, NamesAreUniqueAndRead) {
    std::set<std::string_view> names;
    for (Loss loss : all_losses()) {
        EXPECT_TRUE(names.insert(to_string(loss)).second) << to_string(loss);
        EXPECT_EQ(parse_loss(to_string(loss)), loss);
    }
    EXPECT_EQ(names.size(), 10u);
    EXPECT_FALSE(parse_loss("unknown"));
    EXPECT_FALSE(parse_loss(""));
}

TEST(LossTest, OnlyAnEmptySlotTakesAnotherBoard) {
    EXPECT_TRUE(empties_slot(Loss::device_del));
    EXPECT_TRUE(empties_slot(Loss::slot_power));
    EXPECT_TRUE(empties_slot(Loss::surprise));
    EXPECT_TRUE(empties_slot(Loss::at_access));
    EXPECT_FALSE(empties_slot(Loss::sysfs_remove));
    EXPECT_FALSE(empties_slot(Loss::driver_unbind));
    EXPECT_FALSE(empties_slot(Loss::silent_death));
    EXPECT_FALSE(empties_slot(Loss::hang));
    EXPECT_FALSE(empties_slot(Loss::aer_fatal));
}

TEST(LossTest, OnlyARecoveryLeavesClientsTheirGpu) {
    for (Loss loss : all_losses()) {
        EXPECT_EQ(ends_clients(loss), loss != Loss::aer_fatal) << to_string(loss);
    }
}

}  // namespace
}  // namespace hotplug
