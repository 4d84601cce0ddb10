// SPDX-License-Identifier: GPL-2.0
// Purpose: the files of the guest that losses and recoveries write to, filled in. Thread: one.
#include "hotplug/loss/steps.h"

#include <gtest/gtest.h>

namespace hotplug {
namespace {

std::string written(const GuestFile& file) {
    return fill_in(file.data, "3", "0000:03:00.0") + " to " +
           fill_in(file.path, "3", "0000:03:00.0");
}

TEST(LossStepsTest, FilesOfTheGuestAreFilledIn) {
    EXPECT_EQ(written(kind_of(Loss::slot_power).asks), "0 to /sys/bus/pci/slots/3/power");
    EXPECT_EQ(written(kind_of(Loss::hang).asks), "1 to /sys/bus/pci/devices/0000:03:00.0/remove");
    EXPECT_EQ(written(kind_of(Loss::hang).brings_back), "1 to /sys/bus/pci/rescan");
    EXPECT_EQ(written(kind_of(Loss::driver_unbind).asks),
              "0000:03:00.0 to /sys/bus/pci/devices/0000:03:00.0/driver/unbind");
    EXPECT_EQ(written(kind_of(Loss::driver_unbind).brings_back),
              "0000:03:00.0 to /sys/bus/pci/drivers/amdgpu/bind");
}

// A row with a place that fill_in() does not know would throw in the middle of a removal.
TEST(LossStepsTest, EveryRowCanBeFilledIn) {
    for (const LossKind& kind : all_loss_kinds()) {
        for (const GuestFile& file : {kind.asks, kind.brings_back}) {
            EXPECT_EQ(written(file).find_first_of("{}"), std::string::npos) << kind.name;
        }
    }
}

}  // namespace
}  // namespace hotplug
