// SPDX-License-Identifier: GPL-2.0
// Purpose: that a scenario asks of clients only what they have, and is told what was meant.
// Thread: one.
#include "hotplug/scenario/client_rules.h"

#include <gtest/gtest.h>

#include <vector>

namespace hotplug {
namespace {

std::string mistake(const std::vector<Step>& steps, const std::vector<std::string>& programs = {}) {
    return find_client_mistake(steps, programs).value_or("");
}

TEST(ClientRules, WhatClientsHaveIsRight) {
    EXPECT_EQ(
        mistake({StartStep{"drm_submitter", Role::bystander, {"--pause", "3", "--graphics"}},
                 StartStep{"holder", Role::victim, {}}, TellStep{"holder@victim", "read", "read"},
                 StartStep{"sh", Role::victim, {"-c", "--whatever"}}}),
        "");
}

TEST(ClientRules, AnUnknownProgramIsRefusedWithTheNearestName) {
    EXPECT_EQ(mistake({StartStep{"drm_submiter", Role::victim, {}}}),
              "step 'start drm_submiter@victim': 'drm_submiter' is no client of ours, nor named in "
              "/requires/programs; did you mean 'drm_submitter'?");
    EXPECT_EQ(mistake({StartStep{"nvtop", Role::victim, {}}}),
              "step 'start nvtop@victim': 'nvtop' is no client of ours, nor named in "
              "/requires/programs");
    EXPECT_EQ(mistake({StartStep{"nvtop", Role::victim, {"--snapshot"}}}, {"nvtop"}), "");
}

TEST(ClientRules, AnOptionThatAClientHasNotIsRefused) {
    EXPECT_EQ(mistake({StartStep{"drm_submitter", Role::victim, {"--paus", "3"}}}),
              "step 'start drm_submitter@victim': drm_submitter has no option '--paus'; did you "
              "mean '--pause'?");
}

TEST(ClientRules, AStateThatAClientNeverReportsIsRefused) {
    EXPECT_EQ(mistake({StartStep{"holder", Role::victim, {}},
                       TellStep{"holder@victim", "status", "statuus"}}),
              "step 'tell holder@victim 'status'': holder reports no state 'statuus'; did you mean "
              "'status'?");
}

}  // namespace
}  // namespace hotplug
