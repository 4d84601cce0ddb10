// SPDX-License-Identifier: GPL-2.0
// Purpose: that the harness knows the clients of its build as they describe themselves.
// Thread: one.
#include "hotplug/guest/client_table.h"

#include <gtest/gtest.h>

namespace hotplug {
namespace {

using Gpu = ClientDescription::Gpu;

TEST(ClientTable, HasTheClientsOfThisBuild) {
    const ClientDescription* submitter = find_client("drm_submitter");
    ASSERT_NE(submitter, nullptr);
    EXPECT_EQ(submitter->gpu, Gpu::node);
    EXPECT_TRUE(submitter->worker);
    EXPECT_TRUE(submitter->takes("--pause"));
    EXPECT_TRUE(submitter->takes("--pause=3"));
    EXPECT_TRUE(submitter->takes("3"));
    EXPECT_FALSE(submitter->takes("--paus"));
    EXPECT_TRUE(submitter->reports("fence"));
    EXPECT_TRUE(submitter->reports("progress"));
    EXPECT_FALSE(submitter->reports("fences"));

    const ClientDescription* crowd = find_client("kfd_crowd");
    ASSERT_NE(crowd, nullptr);
    EXPECT_EQ(crowd->gpu, Gpu::gpu_id);
    EXPECT_FALSE(crowd->worker);

    ASSERT_NE(find_client("kfd_monitor"), nullptr);
    EXPECT_EQ(find_client("kfd_monitor")->gpu, Gpu::none);
    EXPECT_EQ(find_client("sh"), nullptr);
    EXPECT_GE(client_names().size(), 21U);
}

TEST(ClientTable, ADescriptionWithoutAMemberIsRefused) {
    EXPECT_TRUE(parse_client_descriptions(
        R"([{"name":"a","gpu":"none","worker":false,"arguments":[],"states":[]}])"));
    EXPECT_FALSE(
        parse_client_descriptions(R"([{"name":"a","gpu":"none","arguments":[],"states":[]}])"));
    EXPECT_FALSE(parse_client_descriptions("["));
}

}  // namespace
}  // namespace hotplug
