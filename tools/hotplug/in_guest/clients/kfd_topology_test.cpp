// SPDX-License-Identifier: GPL-2.0
// Purpose: that a GPU is found in KFD's topology, and only there.
// Thread: one.
#include "hotplug/in_guest/clients/kfd_topology.h"

#include <gtest/gtest.h>

#include "lib/temp_tree.h"

namespace hp::clients {
namespace {

namespace fs = std::filesystem;

class KfdTopologyTest : public ::testing::Test {
protected:
    void SetUp() override { add_node("0", "0", "cpu_cores_count 2\n"); }

    void add_node(const std::string& name, const std::string& gpu_id,
                  const std::string& properties) {
        tree_.file("nodes/" + name + "/gpu_id", gpu_id + '\n');
        tree_.file("nodes/" + name + "/properties", properties);
    }

    TempTree tree_;
    const fs::path root_ = tree_.root();
};

TEST_F(KfdTopologyTest, FindsAGpuByItsId) {
    add_node("1", "111", "drm_render_minor 128\n");
    add_node("2", "222", "drm_render_minor 136\n");
    const auto node = find_kfd_node(root_, 222);
    ASSERT_TRUE(node);
    EXPECT_EQ(node->gpu_id(), 222u);
    EXPECT_EQ(node->render_node(), "/dev/dri/renderD136");
}

TEST_F(KfdTopologyTest, FindsNeitherAnAbsentGpuNorACpu) {
    EXPECT_FALSE(find_kfd_node(root_, 5));
    EXPECT_FALSE(find_kfd_node(root_, 0));
    EXPECT_FALSE(find_kfd_node(root_ / "absent", 5));
}

TEST_F(KfdTopologyTest, CpusAreNoGpus) {
    add_node("1", "111", "");
    add_node("2", "222", "");
    EXPECT_EQ(kfd_gpu_ids(root_), (std::set<std::uint32_t>{111, 222}));
    EXPECT_TRUE(kfd_gpu_ids(root_ / "absent").empty());
}

// 40 compute units in 4 shader engines, as gfx 9.4.3: 1600 waves of 32 bytes for the debugger.
TEST_F(KfdTopologyTest, SizesAsTheDriverWantsThem) {
    add_node("1", "111",
             "simd_count 160\nsimd_per_cu 4\narray_count 4\nsimd_arrays_per_engine 1\nnum_xcc 1\n"
             "gfx_target_version 90402\ncwsr_size 24432640\nctl_stack_size 16384\n");
    const auto node = find_kfd_node(root_, 111);
    ASSERT_TRUE(node);
    EXPECT_EQ(node->control_stack_size(), 16384u);
    EXPECT_EQ(node->save_area_size(), 24432640u);
    EXPECT_EQ(node->save_area_total_size(), (24432640u + 1600 * 32 + 4095) / 4096 * 4096);
}

// As Linux 6.17 reckons them and does not tell: an MI300X and a Navi 21 of the emulator.
TEST_F(KfdTopologyTest, SizesThatAnOlderKernelKeepsToItself) {
    add_node("1", "111",
             "simd_count 160\nsimd_per_cu 4\narray_count 4\nsimd_arrays_per_engine 1\nnum_xcc 1\n"
             "gfx_target_version 90402\n");
    const auto instinct = find_kfd_node(root_, 111);
    EXPECT_EQ(instinct->control_stack_size(), 16384u);
    EXPECT_EQ(instinct->save_area_size(), 16384u + 40 * (0x80000 + 0x4000 + 0x10000 + 0x1000));
    add_node("2", "222",
             "simd_count 160\nsimd_per_cu 2\narray_count 8\nsimd_arrays_per_engine 2\nnum_xcc 1\n"
             "gfx_target_version 100300\n");
    const auto navi = find_kfd_node(root_, 222);
    EXPECT_EQ(navi->control_stack_size(), 0x7000u);
    EXPECT_EQ(navi->save_area_size(), 0x7000u + 80 * (0x40000 + 0x4000 + 0x10000 + 0x1000));
}

TEST_F(KfdTopologyTest, TheSaveAreaGrowsWithTheXccs) {
    add_node("1", "111",
             "simd_count 320\nsimd_per_cu 4\narray_count 8\nsimd_arrays_per_engine 1\nnum_xcc 2\n"
             "gfx_target_version 90402\ncwsr_size 24432640\nctl_stack_size 16384\n");
    EXPECT_EQ(find_kfd_node(root_, 111)->save_area_total_size(),
              (2 * (24432640u + 1600 * 32) + 4095) / 4096 * 4096);
}

TEST_F(KfdTopologyTest, LaterGpusHave32WavesPerComputeUnit) {
    add_node("1", "111",
             "simd_count 64\nsimd_per_cu 2\narray_count 4\nsimd_arrays_per_engine 2\nnum_xcc 1\n"
             "gfx_target_version 110000\ncwsr_size 4096\nctl_stack_size 4096\n");
    EXPECT_EQ(find_kfd_node(root_, 111)->save_area_total_size(), 4096u + 32 * 32 * 32);
}

}  // namespace
}  // namespace hp::clients
