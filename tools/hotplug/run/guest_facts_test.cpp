// SPDX-License-Identifier: GPL-2.0
// Purpose: tests for guest_facts.h.
// Thread: one.
#include "hotplug/run/guest_facts.h"

#include <gtest/gtest.h>

#include "lib/temp_tree.h"

namespace hotplug {
namespace {

constexpr const char* config =
    "# CONFIG_KASAN is not set\nCONFIG_DEBUG_KMEMLEAK=y\nCONFIG_LOCALVERSION=\"\"\n"
    "CONFIG_DRM_AMDGPU=m\n";

TEST(KernelConfig, IsThatOfTheBuiltTree) {
    hp::TempTree tree;
    tree.file("arch/x86/boot/bzImage", "");
    tree.file(".config", config);
    const auto found = find_kernel_config(tree.root() / "arch/x86/boot/bzImage", "no-such-release");
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, tree.root() / ".config");
    EXPECT_EQ(options_in(*found),
              (std::set<std::string>{"CONFIG_DEBUG_KMEMLEAK", "CONFIG_DRM_AMDGPU"}));
}

TEST(KernelConfig, IsTheOneOfItsReleaseBesideTheImage) {
    hp::TempTree tree;
    tree.file("vmlinuz-1.2.3-test", "");
    tree.file("config-9.9.9-other", config);
    EXPECT_FALSE(find_kernel_config(tree.root() / "vmlinuz-1.2.3-test", "1.2.3-test"));
    tree.file("config-1.2.3-test", "");
    EXPECT_FALSE(find_kernel_config(tree.root() / "vmlinuz-1.2.3-test", "1.2.3-test"))
        << "it says nothing";
    tree.file("config-1.2.3-test", config);
    EXPECT_EQ(find_kernel_config(tree.root() / "vmlinuz-1.2.3-test", "1.2.3-test"),
              tree.root() / "config-1.2.3-test");
}

GuestFacts full() {
    GuestFacts facts;
    facts.release = "7.3.4";
    facts.options = {"CONFIG_KASAN", "CONFIG_PROVE_LOCKING", "CONFIG_DEBUG_KMEMLEAK",
                     "CONFIG_DMA_API_DEBUG", "CONFIG_DETECT_HUNG_TASK"};
    facts.options_from = "/proc/config.gz";
    facts.counts_slabs = true;
    facts.translates_dma = true;
    return facts;
}

Integrity noted(const GuestFacts& facts) {
    Integrity integrity;
    note_unjudged(facts, integrity);
    return integrity;
}

TEST(GuestFacts, KernelWithEveryDetectorLeavesNothingToSay) {
    EXPECT_TRUE(noted(full()).entries().empty());
    EXPECT_EQ(full().flavour(), "debug");
}

TEST(GuestFacts, AMachineWithoutAnIommuIsSaid) {
    GuestFacts facts = full();
    facts.translates_dma = false;
    const Integrity integrity = noted(facts);
    ASSERT_EQ(integrity.entries().size(), 1U);
    EXPECT_EQ(integrity.entries()[0].kind, IntegrityKind::not_judged);
    EXPECT_TRUE(integrity.sound());
}

TEST(GuestFacts, DetectorThatIsMissingIsSaid) {
    GuestFacts facts = full();
    facts.options.erase("CONFIG_KASAN");
    EXPECT_EQ(facts.flavour(), "fast");
    const Integrity integrity = noted(facts);
    ASSERT_EQ(integrity.entries().size(), 1U);
    EXPECT_EQ(integrity.entries()[0].kind, IntegrityKind::not_judged);
    EXPECT_EQ(integrity.entries()[0].text,
              "no CONFIG_KASAN: uses of freed memory and accesses out of bounds are not found");
    EXPECT_TRUE(integrity.sound());
}

TEST(GuestFacts, OptionsThatNobodyKnowsFailTheRunAndAreNoFastKernel) {
    GuestFacts facts = full();
    facts.options.clear();
    facts.options_from.clear();
    EXPECT_EQ(facts.flavour(), "unknown");
    const Integrity integrity = noted(facts);
    ASSERT_EQ(integrity.entries().size(), 1U);
    EXPECT_EQ(integrity.entries()[0].kind, IntegrityKind::options_unknown);
    EXPECT_NE(integrity.entries()[0].text.find("config-7.3.4"), std::string::npos);
    EXPECT_FALSE(integrity.sound());
}

TEST(GuestFacts, LeaksThatNothingSeesFailTheRun) {
    GuestFacts facts = full();
    facts.counts_slabs = false;
    EXPECT_TRUE(noted(facts).sound()) << "kmemleak sees them";
    facts.options.erase("CONFIG_DEBUG_KMEMLEAK");
    EXPECT_EQ(noted(facts).of(IntegrityKind::leaks_unseen).size(), 1U);
    EXPECT_FALSE(noted(facts).sound());
}

TEST(GuestFacts, WhatTheImageLacksIsSaid) {
    GuestFacts facts = full();
    facts.image_lacks = {"hsa_copy: libfoo.so.2 is missing"};
    const auto lacks = noted(facts).of(IntegrityKind::image_incomplete);
    ASSERT_EQ(lacks.size(), 1U);
    EXPECT_EQ(lacks[0].text, "hsa_copy: libfoo.so.2 is missing");
}

}  // namespace
}  // namespace hotplug
