// SPDX-License-Identifier: GPL-2.0
// Purpose: tests for integrity.h.
// Thread: one.
#include "hotplug/judge/integrity.h"

#include <gtest/gtest.h>

#include <set>

namespace hotplug {
namespace {

TEST(IntegrityRules, EveryKindHasOneRule) {
    std::set<IntegrityKind> kinds;
    std::set<std::string_view> names;
    for (const IntegrityRule& rule : integrity_rules()) {
        EXPECT_TRUE(kinds.insert(rule.kind).second) << rule.name;
        EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
        EXPECT_EQ(rule_of(rule.kind).name, rule.name);
    }
    EXPECT_EQ(kinds.size(), static_cast<size_t>(IntegrityKind::image_incomplete) + 1)
        << "image_incomplete is the last one";
}

TEST(Integrity, CountsWhatComesAgain) {
    Integrity integrity;
    EXPECT_TRUE(integrity.sound());
    integrity.add(IntegrityKind::not_judged, "no CONFIG_KASAN");
    EXPECT_TRUE(integrity.sound()) << "a note";
    integrity.add(IntegrityKind::late_complaint, "WARNING in f", 2, "slot-power/idle");
    integrity.add(IntegrityKind::late_complaint, "WARNING in f", 3, "hang/busy");
    integrity.add(IntegrityKind::late_complaint, "WARNING in g", 3, "hang/busy");
    EXPECT_FALSE(integrity.sound());
    EXPECT_EQ(integrity.flaws(), 2U);
    const auto late = integrity.of(IntegrityKind::late_complaint);
    ASSERT_EQ(late.size(), 2U);
    EXPECT_EQ(describe(late[0]), "guest 2, after slot-power/idle: WARNING in f (2 times)");
    EXPECT_EQ(describe(integrity.entries()[0]), "no CONFIG_KASAN");
    EXPECT_EQ(first_error(integrity), "");
    integrity.add(IntegrityKind::harness_fault, "the emulator crashed", 3);
    integrity.add(IntegrityKind::ended_early, "disk full");
    EXPECT_EQ(first_error(integrity), "disk full") << "the worst first";
}

TEST(Integrity, WhatIsKnownIsNotMixedWithWhatIsNot) {
    Integrity integrity;
    const IntegrityEntry known = {
        .kind = IntegrityKind::late_complaint, .severity = Severity::note, .text = "WARNING in f"};
    integrity.add(known);
    EXPECT_TRUE(integrity.sound());
    integrity.add(IntegrityKind::late_complaint, "WARNING in f");
    EXPECT_EQ(integrity.flaws(), 1U);
}

}  // namespace
}  // namespace hotplug
