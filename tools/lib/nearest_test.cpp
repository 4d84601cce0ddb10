// SPDX-License-Identifier: GPL-2.0
// Purpose: that slips of the pen are found, and that a strange word is not made into a name.
// Thread: one.
#include "lib/nearest.h"

#include <gtest/gtest.h>

#include <vector>

namespace hp {
namespace {

TEST(Nearest, FindsWhatWasMeant) {
    const std::vector<std::string> names = {"drm_submitter", "holder", "kfd_pair", "kfd_heir"};
    EXPECT_EQ(nearest("drm_submiter", names), "drm_submitter");
    EXPECT_EQ(nearest("dmr_submitter", names), "drm_submitter");
    EXPECT_EQ(nearest("hodler", names), "holder");
    EXPECT_EQ(nearest("kfd_pairs", names), "kfd_pair");
    EXPECT_EQ(nearest("holder", names), "holder");
}

TEST(Nearest, NothingIsCloseToAStrangeWord) {
    const std::vector<std::string> names = {"holder", "mapper"};
    EXPECT_EQ(nearest("nvtop", names), "");
    EXPECT_EQ(nearest("", names), "");
    EXPECT_EQ(nearest("holder", {}), "");
}

}  // namespace
}  // namespace hp
