// SPDX-License-Identifier: GPL-2.0
// Purpose: the table of losses. The losses themselves need a guest. Thread: one.
#include "hotplug/values/loss_kind.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace hotplug {
namespace {

TEST(LossKindTest, NamesAreUniqueAndRead) {
    std::set<std::string_view> names;
    for (const LossKind& kind : all_loss_kinds()) {
        EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
        EXPECT_EQ(parse_loss(kind.name), kind.loss);
        EXPECT_EQ(to_string(kind.loss), kind.name);
        EXPECT_FALSE(kind.meaning.empty()) << kind.name;
    }
    EXPECT_EQ(names.size(), 15u);
    EXPECT_FALSE(parse_loss("unknown"));
    EXPECT_FALSE(parse_loss(""));
}

TEST(LossKindTest, OnlyAnEmptySlotTakesAnotherBoard) {
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

TEST(LossKindTest, OnlyARecoveryLeavesClientsTheirGpu) {
    for (const LossKind& kind : all_loss_kinds()) {
        EXPECT_EQ(ends_clients(kind.loss), kind.comeback != Comeback::by_itself) << kind.name;
    }
}

TEST(LossKindTest, AGuestFileIsNamedWhereItIsWritten) {
    for (const LossKind& kind : all_loss_kinds()) {
        EXPECT_EQ(kind.announcement == Announcement::guest_write, !kind.asks.path.empty())
            << kind.name;
        EXPECT_EQ(kind.comeback == Comeback::guest_write, !kind.brings_back.path.empty())
            << kind.name;
    }
}

TEST(LossKindTest, ALinkErrorIsNamedWhereItIsInjected) {
    for (const LossKind& kind : all_loss_kinds()) {
        EXPECT_EQ(kind.announcement == Announcement::link_error, !kind.link_error.name.empty())
            << kind.name;
    }
}

// A board whose failure is asked of the emulator has one; `surprise` pulls QEMU's own devices, too.
TEST(LossKindTest, OnlyAnEmulatedGpuHangsOrCountsAccesses) {
    for (const LossKind& kind : all_loss_kinds()) {
        if (kind.failure != BoardFailure::none && kind.failure != BoardFailure::vanishes) {
            EXPECT_TRUE(kind.needs_gpu) << kind.name;
        }
    }
    EXPECT_FALSE(kind_of(Loss::surprise).needs_gpu);
}

std::string written(const GuestFile& file) {
    return fill_in(file.data, "3", "0000:03:00.0") + " to " +
           fill_in(file.path, "3", "0000:03:00.0");
}

// The AER driver writes to the log before any other hears of the error.
TEST(LossKindTest, PortTellsOfAnErrorOfTheLink) {
    for (const LossKind& kind : all_loss_kinds()) {
        const bool told = std::any_of(
            kind.may_log.begin(), kind.may_log.end(),
            [](std::string_view line) { return line.find("PCIe Bus Error") != line.npos; });
        EXPECT_EQ(kind.announcement == Announcement::link_error, told) << kind.name;
    }
}

TEST(LossKindTest, FilesOfTheGuestAreFilledIn) {
    EXPECT_EQ(written(kind_of(Loss::slot_power).asks), "0 to /sys/bus/pci/slots/3/power");
    EXPECT_EQ(written(kind_of(Loss::hang).asks), "1 to /sys/bus/pci/devices/0000:03:00.0/remove");
    EXPECT_EQ(written(kind_of(Loss::hang).brings_back), "1 to /sys/bus/pci/rescan");
    EXPECT_EQ(written(kind_of(Loss::driver_unbind).asks),
              "0000:03:00.0 to /sys/bus/pci/devices/0000:03:00.0/driver/unbind");
    EXPECT_EQ(written(kind_of(Loss::driver_unbind).brings_back),
              "0000:03:00.0 to /sys/bus/pci/drivers/amdgpu/bind");
}

// A row with a place that fill_in() does not know would throw in the middle of a removal.
TEST(LossKindTest, EveryRowCanBeFilledIn) {
    for (const LossKind& kind : all_loss_kinds()) {
        for (const GuestFile& file : {kind.asks, kind.brings_back}) {
            EXPECT_EQ(written(file).find_first_of("{}"), std::string::npos) << kind.name;
        }
        for (const std::string_view line : kind.may_log) {
            EXPECT_EQ(fill_in(line, "3", "0000:03:00.0").find_first_of("{}"), std::string::npos)
                << kind.name;
        }
    }
}

}  // namespace
}  // namespace hotplug
