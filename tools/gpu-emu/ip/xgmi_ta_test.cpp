// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of XgmiTa with the shared buffer laid out as amdgpu_psp.c has it.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/ip/xgmi_ta.h"

#include <gtest/gtest.h>

#include <cstring>
#include <span>

namespace gpuemu {
namespace {

constexpr uint32_t initialize = 0, get_node_id = 1, get_hive_id = 2, get_topology = 3,
                   set_topology = 4, get_links = 0xb, get_extend_links = 0xc;

class XgmiTaTest : public testing::Test {
protected:
    // struct ta_xgmi_shared_memory, written down a second time.
    struct Shared {
        uint32_t cmd_id, resp_id, xgmi_status;
        uint8_t flag_extend_link_record, caps_flag, reserved[2];
        struct {
            uint32_t num_nodes;
            struct {
                uint64_t node_id;
                uint8_t num_hops, is_sharing_enabled;
                int32_t sdma_engine;
            } nodes[64];
        } in;
        union {
            uint64_t id;
            decltype(in) topology;
            struct {
                uint32_t num_nodes;
                struct {
                    uint64_t node_id;
                    uint8_t num_links;
                } nodes[64];
            } links;
            struct {
                uint32_t num_nodes;
                struct {
                    uint64_t node_id;
                    uint8_t num_links;
                    struct {
                        uint8_t dst, src;
                    } port[8];
                } nodes[64];
            } extend_links;
        } out;
    };
    static_assert(sizeof(Shared) == XgmiTa::shared_bytes);

    uint32_t run(uint32_t command) {
        shared.cmd_id = command;
        ta.run(command, std::as_writable_bytes(std::span(&shared, 1)));
        return shared.xgmi_status;
    }
    void clear() { std::memset(&shared, 0, sizeof shared); }

    Shared shared{};
    HiveSeat seat{.nodes = 4, .node = 2, .segment_bytes = 1u << 24};
    XgmiTa ta{seat};
};

TEST_F(XgmiTaTest, IsInitializedFirst) {
    EXPECT_EQ(run(get_hive_id), 4u);
    ASSERT_EQ(run(initialize), 0u);
    EXPECT_EQ(shared.caps_flag, 1u) << "GET_EXTEND_PEER_LINKS is there";
    EXPECT_EQ(run(get_hive_id), 0u);
    ta.load();
    EXPECT_EQ(run(get_hive_id), 4u);
}

TEST_F(XgmiTaTest, IdentifiersTellHiveAndNode) {
    ASSERT_EQ(run(initialize), 0u);
    ASSERT_EQ(run(get_hive_id), 0u);
    EXPECT_NE(shared.out.id, 0u) << "amdgpu_get_xgmi_hive() takes it for no hive";
    EXPECT_EQ(shared.out.id, XgmiTa::hive_id());
    ASSERT_EQ(run(get_node_id), 0u);
    EXPECT_EQ(shared.out.id, XgmiTa::node_id(2));
    EXPECT_NE(XgmiTa::node_id(2), XgmiTa::node_id(3));
    EXPECT_NE(XgmiTa::node_id(0), 0u);
}

TEST_F(XgmiTaTest, TopologyIsOneHopToAllOthers) {
    ASSERT_EQ(run(initialize), 0u);
    clear();
    shared.in.num_nodes = 3;  // the fourth has not been probed yet
    shared.in.nodes[0].node_id = XgmiTa::node_id(2);
    shared.in.nodes[1].node_id = XgmiTa::node_id(0);
    shared.in.nodes[2].node_id = XgmiTa::node_id(3);
    EXPECT_EQ(run(set_topology), 0u);
    ASSERT_EQ(run(get_topology), 0u);
    const auto& found = shared.out.topology;
    ASSERT_EQ(found.num_nodes, 3u);
    EXPECT_EQ(found.nodes[0].num_hops, 0u) << "itself";
    for (const unsigned other : {1u, 2u}) {
        EXPECT_EQ(found.nodes[other].node_id, shared.in.nodes[other].node_id);
        EXPECT_EQ(found.nodes[other].num_hops & 7, 1);
        EXPECT_EQ(found.nodes[other].is_sharing_enabled, 1u);
    }
}

/// Both ends of a link name the same two ports, each the other way round: the driver reflects them.
TEST_F(XgmiTaTest, LinksHaveTwoEnds) {
    const HiveSeat other_seat{.nodes = 4, .node = 0, .segment_bytes = 1u << 24};
    XgmiTa other(other_seat);
    const auto ask = [&](XgmiTa& side, unsigned of) {
        clear();
        side.run(initialize, std::as_writable_bytes(std::span(&shared, 1)));
        shared.out.extend_links.num_nodes = 1;
        shared.out.extend_links.nodes[0].node_id = XgmiTa::node_id(of);
        side.run(get_extend_links, std::as_writable_bytes(std::span(&shared, 1)));
        EXPECT_EQ(shared.xgmi_status, 0u);
        return shared.out.extend_links.nodes[0];
    };
    const auto here = ask(ta, 0), there = ask(other, 2);
    EXPECT_EQ(here.num_links, 1u);
    EXPECT_EQ(there.num_links, 1u);
    EXPECT_EQ(here.port[0].src, there.port[0].dst);
    EXPECT_EQ(here.port[0].dst, there.port[0].src);
    EXPECT_NE(ask(ta, 1).port[0].src, here.port[0].src) << "a port has one link";
    EXPECT_EQ(ask(ta, 2).num_links, 0u) << "itself";
}

TEST_F(XgmiTaTest, LinksWithoutPorts) {
    ASSERT_EQ(run(initialize), 0u);
    clear();
    shared.out.links.num_nodes = 2;
    shared.out.links.nodes[0].node_id = XgmiTa::node_id(2);
    shared.out.links.nodes[1].node_id = XgmiTa::node_id(1);
    ASSERT_EQ(run(get_links), 0u);
    EXPECT_EQ(shared.out.links.nodes[0].num_links, 0u);
    EXPECT_EQ(shared.out.links.nodes[1].num_links, 1u);
}

TEST_F(XgmiTaTest, RubbishIsAnsweredWithAnError) {
    ASSERT_EQ(run(initialize), 0u);
    EXPECT_EQ(run(0x77), 3u);
    clear();
    shared.in.num_nodes = 65;
    EXPECT_EQ(run(get_topology), 5u);
    EXPECT_EQ(run(set_topology), 5u);
    shared.in.num_nodes = 1;
    shared.in.nodes[0].node_id = 0x1234;
    EXPECT_EQ(run(get_topology), 6u) << "no member of this hive";
    clear();
    shared.out.links.num_nodes = ~0u;
    EXPECT_EQ(run(get_links), 5u);
    EXPECT_EQ(run(get_extend_links), 5u);
    shared.out.extend_links.num_nodes = 64;
    EXPECT_EQ(run(get_extend_links), 6u);
}

}  // namespace
}  // namespace gpuemu
