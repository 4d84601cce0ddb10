// SPDX-License-Identifier: GPL-2.0
// Purpose: what counts as a leak, and what makes a guest unfit.
// Thread: one.
#include "hotplug/judge/leak.h"

#include <gtest/gtest.h>

namespace hotplug {
namespace {

constexpr const char* gpu_bdf = "0000:01:00.0";

GuestState guest() {
    GuestState state;
    state.drm = {{"card0", "card", gpu_bdf}, {"renderD128", "render", gpu_bdf}};
    KfdNode node;
    node.id = 1;
    node.gpu_id = 77;
    node.location_id = 0x100;
    state.kfd_nodes = {node};
    state.pci = {{gpu_bdf, 0x1002, 0x74a1, 0x120000, "amdgpu"}};
    state.slab = {{"drm_sched_fence", 10}, {"kmalloc-64", 10000}};
    state.drm_minor_max = 128;
    return state;
}

TEST(Leak, SameStateHasNone) {
    EXPECT_TRUE(find_leaks(guest(), guest()).empty());
    EXPECT_TRUE(find_differences(guest(), guest()).empty());
}

TEST(Leak, NodesOfAGpuThatIsGone) {
    GuestState after = guest();
    after.pci.clear();
    const auto leaks = find_leaks(guest(), after);
    ASSERT_EQ(leaks.size(), 2U);
    EXPECT_EQ(leaks[0], "2 DRM node(s) of 0000:01:00.0, which is not there");
    EXPECT_EQ(leaks[1], "1 KFD node(s) of 0000:01:00.0, which is not there");
}

TEST(Leak, PartitionsHaveTheNodesOfOneGpu) {
    GuestState partitioned = guest();
    partitioned.kfd_nodes.push_back(partitioned.kfd_nodes.front());
    partitioned.kfd_nodes.back().location_id |= 1;
    EXPECT_TRUE(find_leaks(partitioned, partitioned).empty());
    partitioned.pci.clear();
    EXPECT_EQ(find_leaks(guest(), partitioned).back(),
              "2 KFD node(s) of 0000:01:00.0, which is not there");
}

TEST(Leak, GpuThatIsGoneWithItsNodesIsADifferenceOnly) {
    GuestState after = guest();
    after.pci.clear();
    after.drm.clear();
    after.kfd_nodes.clear();
    EXPECT_TRUE(find_leaks(guest(), after).empty());
    EXPECT_EQ(find_differences(guest(), after), std::vector<std::string>{"0000:01:00.0 is gone"});
}

TEST(Leak, MoreNodesAndHigherMinors) {
    GuestState after = guest();
    after.drm.push_back({"renderD129", "render", gpu_bdf});
    after.drm_minor_max = 129;
    EXPECT_EQ(find_leaks(guest(), after).size(), 2U);
}

TEST(Leak, HigherMinorsAreNoneWhileTheOldOnesWereHeld) {
    GuestState after = guest();
    after.drm = {{"card1", "card", gpu_bdf}, {"renderD129", "render", gpu_bdf}};
    after.drm_minor_max = 129;
    EXPECT_EQ(find_leaks(guest(), after).size(), 1U);
    const Orphans held = {"renderD128"};
    EXPECT_TRUE(find_leaks(guest(), after, held).empty());
    EXPECT_TRUE(find_differences(guest(), after, held).empty());
    after.drm_minor_max = 130;
    EXPECT_EQ(
        find_leaks(guest(), after, held),
        std::vector<std::string>{"highest DRM minor 130, 128 before: an old minor is still taken"})
        << "one instance that was held explains no more minors than it has";
}

TEST(Leak, InstanceThatWasHeldExplainsTheMinorsOfOneGpu) {
    GuestState before = guest();
    before.drm.push_back({"renderD136", "render", "0000:02:00.0"});
    before.drm_minor_max = 136;
    EXPECT_EQ(highest_allowed_minor(before, {"renderD128"}), 137U) << "not of both GPUs";
    EXPECT_EQ(highest_allowed_minor(before, {"renderD128", "card0", gpu_bdf}), 137U)
        << "two nodes and /dev/kfd hold one instance";
    EXPECT_EQ(highest_allowed_minor(before, {"renderD128", "renderD140"}), 138U)
        << "a later instance was held as well";
    before.drm.push_back({"renderD129", "render", "amdgpu_xcp_0"});
    before.drm.push_back({"renderD137", "render", "amdgpu_xcp_1"});
    EXPECT_EQ(highest_allowed_minor(before, {gpu_bdf}), 138U) << "with its partition's";
}

TEST(Leak, NodeThatIsStillHeldIsOne) {
    GuestState after = guest();
    after.drm_orphans = {{"renderD128", {"sh (31)", "holder (32)"}}};
    EXPECT_EQ(find_leaks(guest(), after, {"renderD128"}),
              std::vector<std::string>{"renderD128 of a GPU that is gone is still held open by sh "
                                       "(31), holder (32)"});
}

TEST(Leak, PartitionsAreCountedTogether) {
    GuestState before = guest();
    before.drm.push_back({"renderD129", "render", "amdgpu_xcp_0"});
    GuestState after = guest();
    after.drm.push_back({"renderD129", "render", "amdgpu_xcp_7"});
    EXPECT_TRUE(find_leaks(before, after).empty());
    after.drm.push_back({"renderD130", "render", "amdgpu_xcp_8"});
    EXPECT_EQ(find_leaks(before, after),
              std::vector<std::string>{"2 DRM nodes of compute partitions, 1 before"});
}

TEST(Leak, SlabHasATolerance) {
    GuestState before = guest();
    before.slab["kernfs_node_cache"] = 15'000;
    GuestState after = before;
    after.slab["drm_sched_fence"] += slab_tolerance_driver;
    after.slab["kernfs_node_cache"] += slab_tolerance_system;
    EXPECT_TRUE(find_leaks(before, after).empty());
    after.slab["drm_sched_fence"] += 1;
    after.slab["kernfs_node_cache"] += 1;
    EXPECT_EQ(find_leaks(before, after),
              (std::vector<std::string>{"slab drm_sched_fence: 191 objects, 10 before",
                                        "slab kernfs_node_cache: 15072 objects, 15000 before"}))
        << "however many there were before";
}

TEST(Leak, BlocksOfFreeMemoryAreNone) {
    GuestState after = guest();
    after.slab["gpu_buddy_block"] = 500;
    EXPECT_TRUE(find_leaks(guest(), after).empty());
}

TEST(Leak, ProcessInDState) {
    GuestState after = guest();
    after.processes_d_state = {{42, "cs", "amdgpu_drm_ioctl", ""}};
    EXPECT_EQ(find_leaks(guest(), after),
              std::vector<std::string>{"process 42 (cs) is in D state in amdgpu_drm_ioctl"});
}

TEST(Leak, DriverlessGpuAndTaintMakeUnfit) {
    GuestState after = guest();
    after.pci[0].driver.clear();
    after.taint = 512;
    const auto differences = find_differences(guest(), after);
    ASSERT_EQ(differences.size(), 2U);
    EXPECT_EQ(differences[0], "taint 0x200, 0x0 before");
    EXPECT_EQ(differences[1], "0000:01:00.0 is 74a1 with driver '', 74a1 with 'amdgpu' before");
}

TEST(Leak, OnlyObstaclesEndASoak) {
    GuestState after = guest();
    after.taint = 512;
    after.slab["drm_sched_fence"] = 10000;
    EXPECT_TRUE(find_obstacles(guest(), after).empty());
    after.pci[0].driver.clear();
    after.processes_d_state = {{42, "kworker", "flush_work", ""}};
    EXPECT_EQ(
        find_obstacles(guest(), after),
        (std::vector<std::string>{"0000:01:00.0 is 74a1 with driver '', 74a1 with 'amdgpu' before",
                                  "process 42 (kworker) is in D state in flush_work"}));
}

}  // namespace
}  // namespace hotplug
