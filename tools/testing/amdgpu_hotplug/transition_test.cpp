// SPDX-License-Identifier: GPL-2.0
// Every function in every state a GPU can be in, one after the other, against a table written by
// hand.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "testing/amdgpu_hotplug/state_calls.h"

namespace hp {
namespace {

constexpr int reset = HOTPLUG_RESETTING;

struct Row {
    std::string_view name;
    int (*call)(int* word);
    int before;
    int result;
    int after;
};

void expect_rows(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
        int word = row.before;
        EXPECT_EQ(row.call(&word), row.result) << row.name << " in " << row.before;
        EXPECT_EQ(word, row.after) << row.name << " in " << row.before;
    }
}

constexpr const hotplug_calls& calls = hotplug_state_calls;

TEST(HotplugState, ZeroedMemoryIsAPresentGpu) {
    int word = 0;
    EXPECT_EQ(calls.phase(&word), HOTPLUG_PRESENT);
    EXPECT_TRUE(calls.admits(&word));
    EXPECT_FALSE(calls.resetting(&word));
}

TEST(HotplugState, Questions) {
    for (int running : {0, reset}) {
        expect_rows({
            {"phase", calls.phase, HOTPLUG_PRESENT | running, HOTPLUG_PRESENT,
             HOTPLUG_PRESENT | running},
            {"phase", calls.phase, HOTPLUG_REMOVING | running, HOTPLUG_REMOVING,
             HOTPLUG_REMOVING | running},
            {"phase", calls.phase, HOTPLUG_LOST | running, HOTPLUG_LOST, HOTPLUG_LOST | running},
            {"phase", calls.phase, HOTPLUG_GONE | running, HOTPLUG_GONE, HOTPLUG_GONE | running},
            {"admits", calls.admits, HOTPLUG_PRESENT | running, 1, HOTPLUG_PRESENT | running},
            {"admits", calls.admits, HOTPLUG_REMOVING | running, 0, HOTPLUG_REMOVING | running},
            {"admits", calls.admits, HOTPLUG_LOST | running, 0, HOTPLUG_LOST | running},
            {"admits", calls.admits, HOTPLUG_GONE | running, 0, HOTPLUG_GONE | running},
            {"may_access", calls.may_access, HOTPLUG_PRESENT | running, 1,
             HOTPLUG_PRESENT | running},
            {"may_access", calls.may_access, HOTPLUG_REMOVING | running, 1,
             HOTPLUG_REMOVING | running},
            {"may_access", calls.may_access, HOTPLUG_LOST | running, 0, HOTPLUG_LOST | running},
            {"may_access", calls.may_access, HOTPLUG_GONE | running, 0, HOTPLUG_GONE | running},
        });
    }
    for (int phase : {HOTPLUG_PRESENT, HOTPLUG_REMOVING, HOTPLUG_LOST, HOTPLUG_GONE}) {
        expect_rows({{"resetting", calls.resetting, phase, 0, phase},
                     {"resetting", calls.resetting, phase | reset, 1, phase | reset}});
    }
}

TEST(HotplugState, PhaseChangesKeepTheReset) {
    for (int running : {0, reset}) {
        expect_rows({
            {"lose", calls.lose, HOTPLUG_PRESENT | running, 1, HOTPLUG_LOST | running},
            {"lose", calls.lose, HOTPLUG_REMOVING | running, 1, HOTPLUG_LOST | running},
            {"lose", calls.lose, HOTPLUG_LOST | running, 0, HOTPLUG_LOST | running},
            {"lose", calls.lose, HOTPLUG_GONE | running, 0, HOTPLUG_GONE | running},
            {"remove_begin", calls.remove_begin, HOTPLUG_PRESENT | running, HOTPLUG_REMOVING,
             HOTPLUG_REMOVING | running},
            {"remove_begin", calls.remove_begin, HOTPLUG_REMOVING | running, HOTPLUG_REMOVING,
             HOTPLUG_REMOVING | running},
            {"remove_begin", calls.remove_begin, HOTPLUG_LOST | running, HOTPLUG_LOST,
             HOTPLUG_LOST | running},
            {"remove_begin", calls.remove_begin, HOTPLUG_GONE | running, HOTPLUG_GONE,
             HOTPLUG_GONE | running},
            {"remove_end", calls.remove_end, HOTPLUG_PRESENT | running, 0,
             HOTPLUG_PRESENT | running},
            {"remove_end", calls.remove_end, HOTPLUG_REMOVING | running, 1, HOTPLUG_GONE | running},
            {"remove_end", calls.remove_end, HOTPLUG_LOST | running, 1, HOTPLUG_GONE | running},
            {"remove_end", calls.remove_end, HOTPLUG_GONE | running, 0, HOTPLUG_GONE | running},
        });
    }
}

TEST(HotplugState, AResetBeginsOnlyWhenPresent) {
    expect_rows({
        {"reset_begin", calls.reset_begin, HOTPLUG_PRESENT, 1, HOTPLUG_PRESENT | reset},
        {"reset_begin", calls.reset_begin, HOTPLUG_PRESENT | reset, 0, HOTPLUG_PRESENT | reset},
    });
    for (int phase : {HOTPLUG_REMOVING, HOTPLUG_LOST, HOTPLUG_GONE}) {
        expect_rows({{"reset_begin", calls.reset_begin, phase, 0, phase},
                     {"reset_begin", calls.reset_begin, phase | reset, 0, phase | reset}});
    }
    for (int phase : {HOTPLUG_PRESENT, HOTPLUG_REMOVING, HOTPLUG_LOST, HOTPLUG_GONE}) {
        expect_rows({{"reset_end", calls.reset_end, phase | reset, phase, phase}});
    }
}

}  // namespace
}  // namespace hp
