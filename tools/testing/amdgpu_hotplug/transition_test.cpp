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
constexpr int suspect = HOTPLUG_SUSPECT;

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

TEST(HotplugState, ASuspicionStopsAccessesAndCanBeTakenBack) {
    for (int phase : {HOTPLUG_PRESENT, HOTPLUG_REMOVING}) {
        for (int running : {0, reset}) {
            const int word = phase | running;
            expect_rows({
                {"suspect", calls.suspect, word, 1, word | suspect},
                {"suspect", calls.suspect, word | suspect, 0, word | suspect},
                {"suspected", calls.suspected, word, 0, word},
                {"suspected", calls.suspected, word | suspect, 1, word | suspect},
                {"may_access", calls.may_access, word | suspect, 0, word | suspect},
                {"admits", calls.admits, word | suspect, phase == HOTPLUG_PRESENT, word | suspect},
                {"trust", calls.trust, word, 0, word},
                {"trust", calls.trust, word | suspect, 1, word},
                {"lose", calls.lose, word | suspect, 1, HOTPLUG_LOST | running},
                {"remove_begin", calls.remove_begin, word | suspect, HOTPLUG_REMOVING,
                 HOTPLUG_REMOVING | running | suspect},
            });
        }
    }
    for (int phase : {HOTPLUG_LOST, HOTPLUG_GONE}) {
        expect_rows(
            {{"suspect", calls.suspect, phase, 0, phase}, {"trust", calls.trust, phase, 0, phase}});
    }
    expect_rows({
        {"reset_begin", calls.reset_begin, HOTPLUG_PRESENT | suspect, 1, HOTPLUG_PRESENT | reset},
        {"reset_begin", calls.reset_begin, HOTPLUG_REMOVING | suspect, 0,
         HOTPLUG_REMOVING | suspect},
        {"reset_end", calls.reset_end, HOTPLUG_PRESENT | reset | suspect, HOTPLUG_PRESENT,
         HOTPLUG_PRESENT | suspect},
        {"remove_end", calls.remove_end, HOTPLUG_REMOVING | suspect, 1, HOTPLUG_GONE},
    });
}

}  // namespace
}  // namespace hp
