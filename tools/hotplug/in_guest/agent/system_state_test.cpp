// SPDX-License-Identifier: GPL-2.0
// Purpose: what is read of procfs and sysfs, from trees made for it.
// Thread: one.
#include "hotplug/in_guest/agent/system_state.h"

#include <gtest/gtest.h>

#include "lib/temp_tree.h"

namespace hp::agent {
namespace {

using nlohmann::json;

TEST(SystemState, DrmMinorsAreCardsAndRenderNodesOnly) {
    TempTree tree;
    tree.file("sys/class/drm/version", "drm 1.1.0");
    tree.link("sys/class/drm/card0/device", "../../../0000:01:00.0");
    tree.link("sys/class/drm/renderD128/device", "../../../0000:01:00.0");
    tree.link("sys/class/drm/renderD135/device", "../../../amdgpu_xcp_6");
    tree.file("sys/class/drm/card0-DP-1/status", "connected");
    const json minors = read_drm_minors(tree.root());
    ASSERT_EQ(minors.size(), 3u);
    EXPECT_EQ(minors[0],
              (json{{"minor", "card0"}, {"kind", "card"}, {"number", 0}, {"bdf", "0000:01:00.0"}}));
    EXPECT_EQ(minors[1]["kind"], "render");
    EXPECT_EQ(minors[2]["bdf"], "amdgpu_xcp_6");
    EXPECT_EQ(read_state(tree.root())["drm_minor_max"], 135);
}

TEST(SystemState, OrphansAreOpenNodesThatDevtmpfsHasRemoved) {
    TempTree tree;
    tree.file("proc/31/comm", "sh\n");
    tree.link("proc/31/fd/3", "/dev/dri/renderD128 (deleted)");
    tree.link("proc/31/fd/4", "/dev/dri/renderD128 (deleted)");
    tree.link("proc/31/fd/5", "/dev/dri/renderD129");
    tree.link("proc/31/fd/6", "/tmp/file (deleted)");
    tree.file("proc/32/comm", "holder\n");
    tree.link("proc/32/fd/7", "/dev/dri/renderD128 (deleted)");
    tree.link("proc/self/fd/3", "/dev/dri/card0 (deleted)");
    tree.file("proc/33/comm", "kworker\n");
    const json answer = read_open_files(tree.root())["drm_orphans"];
    ASSERT_EQ(answer.size(), 1u);
    EXPECT_EQ(answer[0]["minor"], "renderD128");
    const json& holders = answer[0]["holders"];
    ASSERT_EQ(holders.size(), 2u) << "each process once";
    EXPECT_EQ(holders[0], (json{{"pid", 31}, {"comm", "sh"}}));
    EXPECT_EQ(holders[1], (json{{"pid", 32}, {"comm", "holder"}}));
}

TEST(SystemState, KfdUsersHaveItOpen) {
    TempTree tree;
    tree.file("proc/31/comm", "kfd_monitor\n");
    tree.link("proc/31/fd/3", "/dev/kfd");
    tree.link("proc/31/fd/4", "/dev/kfd");
    tree.file("proc/32/comm", "sh\n");
    tree.link("proc/32/fd/3", "/dev/kfd0");
    EXPECT_EQ(read_open_files(tree.root())["kfd_users"],
              (json{{{"pid", 31}, {"comm", "kfd_monitor"}}}));
}

TEST(SystemState, KfdEvictionsOfEachProcessAndGpu) {
    TempTree tree;
    const std::string processes = "sys/class/kfd/kfd/proc/";
    tree.file(processes + "31/pasid", "32769\n");
    tree.file(processes + "31/stats_54321/evicted_ms", "0\n");
    tree.file(processes + "31/stats_54322/evicted_ms", "17\n");
    tree.file(processes + "31/stats_54322/cu_occupancy", "3\n");
    tree.file(processes + "32/stats_54321/cu_occupancy", "3\n");
    EXPECT_EQ(read_kfd_evictions(tree.root()),
              (json{{{"pid", 31}, {"gpu_id", 54321}, {"evicted_ms", 0}},
                    {{"pid", 31}, {"gpu_id", 54322}, {"evicted_ms", 17}}}));
}

TEST(SystemState, KfdNodes) {
    TempTree tree;
    const std::string nodes = "sys/class/kfd/kfd/topology/nodes/";
    tree.file("sys/class/kfd/kfd/topology/generation_id", "3\n");
    tree.file(nodes + "0/gpu_id", "0\n");
    tree.file(nodes + "0/name", "\n");
    tree.file(nodes + "0/properties", "cpu_cores_count 2\nsimd_count 0\n");
    tree.file(nodes + "1/gpu_id", "54321\n");
    tree.file(nodes + "1/name", "ip discovery\n");
    tree.file(nodes + "1/properties",
              "simd_count 160\nlocation_id 256\ndomain 0\ndrm_render_minor 128\n");
    tree.file(nodes + "1/io_links/0/properties", "type 2\nnode_from 1\nnode_to 0\n");
    const json answer = read_kfd_nodes(tree.root());
    ASSERT_EQ(answer.size(), 2u);
    EXPECT_EQ(answer[0]["gpu_id"], 0);
    EXPECT_EQ(answer[0]["io_links"], 0);
    EXPECT_EQ(answer[1], (json{{"id", 1},
                               {"gpu_id", 54321},
                               {"name", "ip discovery"},
                               {"simd_count", 160},
                               {"render_minor", 128},
                               {"location_id", 256},
                               {"domain", 0},
                               {"io_links", 1},
                               {"io_link_targets", {0}}}));
    EXPECT_EQ(read_state(tree.root())["kfd_generation"], 3);
}

TEST(SystemState, PciDevicesWithAndWithoutDriver) {
    TempTree tree;
    const std::string devices = "sys/bus/pci/devices/";
    for (const char* bdf : {"0000:00:01.0", "0000:01:00.0"}) {
        tree.file(devices + bdf + "/vendor", "0x1002\n");
        tree.file(devices + bdf + "/device", "0x74a1\n");
        tree.file(devices + bdf + "/class", "0x120000\n");
    }
    tree.link(devices + "0000:01:00.0/driver", "../../../../bus/pci/drivers/amdgpu");
    const json answer = read_pci_devices(tree.root());
    ASSERT_EQ(answer.size(), 2u);
    EXPECT_EQ(answer[0]["driver"], "");
    EXPECT_EQ(answer[1], (json{{"bdf", "0000:01:00.0"},
                               {"vendor", 0x1002},
                               {"device", 0x74a1},
                               {"class", 0x120000},
                               {"driver", "amdgpu"}}));
}

TEST(SystemState, SlabCachesOfInterest) {
    TempTree tree;
    tree.file("proc/slabinfo",
              "slabinfo - version: 2.1\n"
              "# name            <active_objs> <num_objs>\n"
              "amdgpu_fence         12     40    192   21    1 : tunables 0 0 0\n"
              "kmalloc-64         1234   2000     64   64    1 : tunables 0 0 0\n"
              "kernfs_node_cache  9000   9100    128   32    1 : tunables 0 0 0\n");
    EXPECT_EQ(read_slab(tree.root()), (json{{"amdgpu_fence", 12}, {"kernfs_node_cache", 9000}}));
}

TEST(SystemState, BlockedTasks) {
    TempTree tree;
    tree.file("proc/25/task/25/stat", "25 (irq/25-pciehp) D 2 0 0 0\n");
    tree.file("proc/25/task/25/comm", "irq/25-pciehp\n");
    tree.file("proc/25/task/25/wchan", "msleep\n");
    tree.file("proc/25/task/25/stack", "[<0>] msleep+0x2d/0x40\n[<0>] amdgpu_x\n");
    tree.file("proc/30/task/30/stat", "30 (evil) D 1) S 2 0 0 0\n");
    tree.file("proc/30/task/31/stat", "31 (thread) D 2 0 0 0\n");
    tree.file("proc/self/task/1/stat", "1 (x) D 0\n");
    const json answer = read_blocked_tasks(tree.root());
    ASSERT_EQ(answer.size(), 2u);
    EXPECT_EQ(answer[0], (json{{"pid", 25},
                               {"comm", "irq/25-pciehp"},
                               {"wchan", "msleep"},
                               {"stack", "[<0>] msleep+0x2d/0x40\n[<0>] amdgpu_x"}}));
    EXPECT_EQ(answer[1]["pid"], 31);
}

TEST(SystemState, FilesThatCannotBeReadAnyMoreAreEmpty) {
    TempTree tree;
    // Like the files of a task that ended, a folder can be opened but not read.
    tree.file("proc/25/task/25/stat/x", "");
    tree.file("proc/26/task/26/stat", "26 (kworker) D 2 0 0 0\n");
    tree.file("proc/26/task/26/stack/x", "");
    const json answer = read_blocked_tasks(tree.root());
    ASSERT_EQ(answer.size(), 1u);
    EXPECT_EQ(answer[0]["pid"], 26);
    EXPECT_EQ(answer[0]["stack"], "");
    tree.file("sys/bus/pci/devices/0000:01:00.0/vendor/x", "");
    EXPECT_EQ(read_pci_devices(tree.root()).at(0)["vendor"], 0);
    tree.file("proc/slabinfo/x", "");
    EXPECT_EQ(read_slab(tree.root()), json::object());
}

TEST(SystemState, AnEmptySystemHasAllMembers) {
    TempTree tree;
    tree.file("proc/sys/kernel/tainted", "4096\n");
    tree.file("proc/meminfo", "MemTotal: 99 kB\nMemAvailable:    777 kB\nSlab:  55 kB\n");
    const json state = read_state(tree.root());
    EXPECT_EQ(state["taint"], 4096);
    EXPECT_EQ(state["slab_total_kib"], 55);
    EXPECT_EQ(state["memory_available_kib"], 777);
    EXPECT_GT(state["uptime_us"], 0);
    for (const char* list : {"drm", "drm_orphans", "kfd_users", "kfd_evictions", "kfd_nodes", "pci",
                             "processes_d_state"}) {
        EXPECT_EQ(state[list], json::array()) << list;
    }
    EXPECT_EQ(state["slab"], json::object());
}

}  // namespace
}  // namespace hp::agent
