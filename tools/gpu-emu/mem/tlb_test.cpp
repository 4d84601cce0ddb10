// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/mem/tlb.h"

#include <gtest/gtest.h>

namespace gpuemu {
namespace {

constexpr Tlb::Translation first{.address = 0x1000, .length = 0x2000, .system = true};
constexpr Tlb::Translation second{.address = 0x9000, .length = 0x1000, .writeable = true};

TEST(TlbTest, KeepsWhatItIsToldForEachVmid) {
    Tlb tlb;
    EXPECT_EQ(tlb.find(0, 0), nullptr);
    tlb.keep(3, 0x7000, first);
    tlb.keep(4, 0x7000, second);
    ASSERT_NE(tlb.find(3, 0x7fff), nullptr) << "all of the page";
    EXPECT_EQ(tlb.find(3, 0x7fff)->address, 0x1000u);
    EXPECT_EQ(tlb.find(4, 0x7000)->address, 0x9000u);
    EXPECT_EQ(tlb.find(3, 0x8000), nullptr);
    EXPECT_EQ(tlb.find(5, 0x7000), nullptr);
}

TEST(TlbTest, InvalidationEndsTheTranslationsOfItsVmidsAlone) {
    Tlb tlb;
    tlb.keep(0, 0x7000, first);
    tlb.keep(3, 0x7000, first);
    tlb.keep(4, 0x7000, second);
    tlb.invalidate(1 << 3);
    EXPECT_EQ(tlb.find(3, 0x7000), nullptr);
    EXPECT_NE(tlb.find(4, 0x7000), nullptr);
    tlb.keep(3, 0x7000, second);
    EXPECT_NE(tlb.find(3, 0x7000), nullptr);
    tlb.invalidate(Tlb::all_vmids);
    EXPECT_EQ(tlb.find(0, 0x7000), nullptr);
    EXPECT_EQ(tlb.find(3, 0x7000), nullptr);
    EXPECT_EQ(tlb.find(4, 0x7000), nullptr);
}

TEST(TlbTest, HasNoMoreThanItsPlaces) {
    Tlb tlb;
    for (uint64_t page = 0; page < 4 * Tlb::entries; ++page) {
        tlb.keep(1, page << Tlb::page_shift, first);
    }
    std::size_t kept = 0;
    for (uint64_t page = 0; page < 4 * Tlb::entries; ++page) {
        kept += tlb.find(1, page << Tlb::page_shift) != nullptr ? 1 : 0;
    }
    EXPECT_EQ(kept, Tlb::entries);
}

}  // namespace
}  // namespace gpuemu
