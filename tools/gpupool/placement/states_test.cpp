// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of the tables of states: each arrow once, every state reached and left, names both
// ways.
// Thread: the test's.
#include "gpupool/placement/states.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace gpupool {
namespace {

template <typename Arrows>
void expect_one_way_each(Arrows arrows) {
    std::set<std::pair<int, int>> seen;
    for (const auto& arrow : arrows) {
        EXPECT_TRUE(
            seen.insert({static_cast<int>(arrow.from), static_cast<int>(arrow.event)}).second)
            << name_of(arrow.from) << " has two ways out by " << name_of(arrow.event);
        EXPECT_EQ(next(arrow.from, arrow.event), arrow.to);
    }
}

TEST(States, AnEventLeadsOneWay) {
    expect_one_way_each(gpu_arrows());
    expect_one_way_each(lease_arrows());
    expect_one_way_each(vm_arrows());
}

/// All that can be reached from `first`.
template <typename State, typename Arrows>
std::set<State> reached(State first, Arrows arrows) {
    std::set<State> found{first};
    for (bool more = true; more;) {
        more = false;
        for (const auto& arrow : arrows) {
            more = (found.contains(arrow.from) && found.insert(arrow.to).second) || more;
        }
    }
    return found;
}

TEST(States, AllAreReachedAndOnlyTheLastAreNotLeft) {
    EXPECT_EQ(reached(GpuState::fresh, gpu_arrows()).size(), 11u);
    EXPECT_EQ(reached(GpuState::retired, gpu_arrows()).size(), 1u);
    EXPECT_TRUE(reached(GpuState::quarantined, gpu_arrows()).contains(GpuState::leased));
    EXPECT_EQ(reached(LeaseState::queued, lease_arrows()).size(), 8u);
    EXPECT_EQ(reached(LeaseState::closed, lease_arrows()).size(), 1u);
    EXPECT_EQ(reached(LeaseState::lost, lease_arrows()).size(), 1u);
    EXPECT_EQ(reached(VmState::stopped, vm_arrows()).size(), 4u);
}

TEST(States, NobodyGetsAGpuThatWasUsedAndNotScrubbed) {
    std::set<GpuState> dirty{GpuState::attaching};
    for (bool more = true; more;) {
        more = false;
        for (const auto& arrow : gpu_arrows()) {
            if (dirty.contains(arrow.from) && arrow.to != GpuState::scrubbing) {
                more = dirty.insert(arrow.to).second || more;
            }
        }
    }
    EXPECT_FALSE(dirty.contains(GpuState::free));
    EXPECT_FALSE(dirty.contains(GpuState::reserved));
}

TEST(States, NamesLeadBack) {
    for (const auto& arrow : gpu_arrows()) {
        EXPECT_EQ(gpu_state(name_of(arrow.to)), arrow.to);
    }
    for (const auto& arrow : lease_arrows()) {
        EXPECT_EQ(lease_state(name_of(arrow.to)), arrow.to);
    }
    for (const auto& arrow : vm_arrows()) {
        EXPECT_EQ(vm_state(name_of(arrow.to)), arrow.to);
    }
    EXPECT_EQ(gpu_state("new"), GpuState::fresh);
    EXPECT_FALSE(gpu_state("lunch"));
    EXPECT_FALSE(lease_state(""));
}

}  // namespace
}  // namespace gpupool
