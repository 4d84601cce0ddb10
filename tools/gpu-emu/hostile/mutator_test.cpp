// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of Mutator: when it lies, that a seed repeats it, and what it says of it.
// Thread: the test's.
// Does not model: the blocks that ask it; their tests do.
#include "gpu-emu/hostile/mutator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "gpu-emu/pci/pci_function.h"

namespace gpuemu {
namespace {

constexpr std::array every_surface = {Surface::registers, Surface::write_backs, Surface::interrupts,
                                      Surface::discovery, Surface::firmware,    Surface::mailbox,
                                      Surface::fills};
static_assert(every_surface.size() == surface_count);

using Words = std::vector<uint32_t>;

/// What is told of `count` words 0, at the places 0 to 9 in turn.
Words mutated(Mutator& mutator, Surface surface, uint32_t count) {
    Words words;
    for (uint32_t i = 0; i < count; ++i) {
        words.push_back(mutator.word(surface, i % 10, 0));
    }
    return words;
}

Words told_by(uint64_t seed, Surface surface, uint64_t rate, uint32_t count = 1000) {
    Mutator mutator;
    mutator.start(seed, std::array{surface}, rate);
    return mutated(mutator, surface, count);
}

TEST(Mutator, IsHonestUntilAskedNotToBe) {
    Mutator mutator;
    int lies = 0;
    mutator.set_witness([&](const Mutation&) { ++lies; });
    for (const Surface surface : every_surface) {
        EXPECT_FALSE(mutator.on(surface));
        EXPECT_EQ(mutated(mutator, surface, 1000), Words(1000, 0));
    }
    EXPECT_EQ(lies, 0);
    EXPECT_EQ(mutator.mutations(), 0u);
}

TEST(Mutator, TheSameSeedAndAccessesGiveTheSameLies) {
    for (const Surface surface : every_surface) {
        EXPECT_EQ(told_by(7, surface, 5), told_by(7, surface, 5)) << surface_name(surface);
        EXPECT_NE(told_by(7, surface, 5), told_by(8, surface, 5)) << surface_name(surface);
    }
    EXPECT_NE(told_by(7, Surface::registers, 5), told_by(7, Surface::firmware, 5));
}

TEST(Mutator, WhatIsAskedElsewhereChangesNothing) {
    Mutator alone, among_others;
    for (Mutator* const mutator : {&alone, &among_others}) {
        mutator->start(3, every_surface, 4);
    }
    for (int i = 0; i < 200; ++i) {
        among_others.word(Surface::registers, 8, 1);
        among_others.word(Surface::interrupts, 7, 1);
        EXPECT_EQ(alone.word(Surface::registers, 7, 1), among_others.word(Surface::registers, 7, 1))
            << i;
    }
}

TEST(Mutator, ShiftsAsManyFencesAsItIsTold) {
    Mutator mutator;
    std::vector<Mutation> lies;
    mutator.set_witness([&](const Mutation& lie) { lies.push_back(lie); });
    mutator.shift(video_fence, 1, 2);
    EXPECT_EQ(mutator.fence(video_fence, 7), 8u);
    EXPECT_EQ(mutator.fence(compute_fence, 7), 7u);
    ASSERT_EQ(lies.size(), 1u);
    EXPECT_EQ(lies[0].surface, Surface::write_backs);
    EXPECT_EQ(lies[0].where, video_fence);
    EXPECT_EQ(lies[0].was, 7u);
    EXPECT_EQ(lies[0].is, 8u);
    EXPECT_EQ(mutator.fence(video_fence, 0xffffffff), 0u);
    EXPECT_EQ(mutator.fence(video_fence, 7), 7u);
    mutator.shift(compute_fence, 0xffffffff, 5);
    EXPECT_EQ(mutator.fence(compute_fence, 7), 6u);
    mutator.stop();
    EXPECT_EQ(mutator.fence(compute_fence, 7), 7u);
    EXPECT_EQ(mutator.mutations(), 3u);
}

TEST(Mutator, StartingAgainBeginsFromTheFront) {
    Mutator mutator;
    mutator.start(9, every_surface, 3);
    const Words first = mutated(mutator, Surface::firmware, 100);
    EXPECT_NE(mutated(mutator, Surface::firmware, 100), first);
    mutator.start(9, every_surface, 3);
    EXPECT_EQ(mutated(mutator, Surface::firmware, 100), first);
}

TEST(Mutator, OneWordInSoManyIsALie) {
    constexpr uint32_t asked = 100'000;
    const Words words = told_by(1, Surface::registers, 100, asked);
    const auto lies = asked - std::ranges::count(words, 0u);
    EXPECT_GT(lies, 800);
    EXPECT_LT(lies, 1200);
}

TEST(Mutator, ALieIsNeverTheTruth) {
    Mutator mutator;
    mutator.start(1, every_surface, 1);
    for (uint32_t i = 0; i < 10'000; ++i) {
        for (const uint32_t truth : {0u, 1u, 0x7fffffffu, 0xffffffffu, i}) {
            ASSERT_NE(mutator.word(Surface::write_backs, 0, truth), truth) << i;
        }
    }
    EXPECT_EQ(mutator.mutations(), 50'000u);
}

TEST(Mutator, NearMissesExtremesAndNoiseAreAllTold) {
    constexpr uint32_t truth = 1000;
    Mutator mutator;
    mutator.start(1, every_surface, 1);
    Words words;
    for (uint32_t i = 0; i < 1000; ++i) {
        words.push_back(mutator.word(Surface::firmware, 0, truth));
    }
    for (const uint32_t wanted : {0u, 0xffffffffu, truth + 1, truth - 1, truth | 1u << 31}) {
        EXPECT_NE(std::ranges::count(words, wanted), 0) << wanted;
    }
}

TEST(Mutator, RateZeroMakesASurfaceHonestAndLeavesTheOthers) {
    Mutator mutator;
    mutator.start(1, every_surface, 1);
    mutator.start(1, std::array{Surface::registers}, 0);
    EXPECT_EQ(mutator.word(Surface::registers, 0, 5), 5u);
    EXPECT_NE(mutator.word(Surface::firmware, 0, 5), 5u);
    EXPECT_EQ(mutator.mutations(), 1u);
    mutator.stop();
    EXPECT_EQ(mutator.word(Surface::firmware, 0, 5), 5u);
    EXPECT_EQ(mutator.mutations(), 1u) << "still to be asked for";
    mutator.start(1, every_surface, 1);
    EXPECT_EQ(mutator.mutations(), 0u);
}

TEST(Mutator, SaysWhatWasAskedForAndLiedAbout) {
    Mutator mutator;
    mutator.start(1, std::array{Surface::registers}, 1);
    mutator.start(1, std::array{Surface::firmware}, 1'000'000'000);
    mutated(mutator, Surface::registers, 25);
    mutated(mutator, Surface::firmware, 7);
    EXPECT_EQ(mutator.places(Surface::registers).asked, 10u);
    EXPECT_EQ(mutator.places(Surface::registers).told,
              (std::set<uint32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_EQ(mutator.places(Surface::firmware).asked, 7u);
    EXPECT_TRUE(mutator.places(Surface::firmware).told.empty());
    EXPECT_EQ(mutator.places(Surface::interrupts).asked, 0u);
    mutator.stop();
    EXPECT_EQ(mutator.places(Surface::registers).asked, 10u) << "still to be asked for";
    mutator.start(1, std::array{Surface::firmware}, 1);
    EXPECT_EQ(mutator.places(Surface::registers).asked, 0u);
}

TEST(Mutator, ATableIsItsDwordsAndNoMore) {
    Mutator mutator;
    mutator.start(1, every_surface, 1);
    std::vector<Mutation> lies;
    mutator.set_witness([&](const Mutation& mutation) { lies.push_back(mutation); });
    std::array<std::byte, 11> bytes{};
    bytes[4] = std::byte{1};
    mutator.table(Surface::discovery, 20, bytes);
    ASSERT_EQ(lies.size(), 2u);
    EXPECT_EQ(lies[0].where, 20u);
    EXPECT_EQ(lies[0].was, 0u);
    EXPECT_EQ(lies[1].where, 21u);
    EXPECT_EQ(lies[1].was, 1u);
    for (const size_t dword : {0, 1}) {
        uint32_t value = 0;
        std::memcpy(&value, &bytes[dword * 4], sizeof value);
        EXPECT_EQ(value, lies[dword].is);
    }
    EXPECT_TRUE(std::all_of(bytes.begin() + 8, bytes.end(),
                            [](std::byte byte) { return byte == std::byte{0}; }));
}

TEST(Mutator, TheTraceSaysWhatWasAndWhatIsTold) {
    const TraceRecord reg = trace_record({Surface::registers, 0x10, 1, 2}, 99);
    EXPECT_EQ(reg.kind, TraceKind::mutation);
    EXPECT_EQ(reg.time_ns, 99u);
    EXPECT_EQ(reg.offset, 0x40u);
    EXPECT_EQ(reg.value, 0x1'0000'0002u);
    EXPECT_EQ(reg.region, static_cast<uint8_t>(Region::bar5));
    EXPECT_EQ(reg.flags, static_cast<uint16_t>(Surface::registers));
    const TraceRecord answer = trace_record({Surface::firmware, 0x10, 1, 2}, 99);
    EXPECT_EQ(answer.offset, 0x10u);
    EXPECT_EQ(answer.region, no_region);
    EXPECT_EQ(answer.flags, static_cast<uint16_t>(Surface::firmware));
}

TEST(Mutator, SurfacesAreKnownByName) {
    for (const Surface surface : every_surface) {
        EXPECT_EQ(parse_surface(surface_name(surface)), surface);
    }
    EXPECT_EQ(parse_surface("vram"), std::nullopt);
    EXPECT_EQ(surface_name(static_cast<Surface>(surface_count)), "");
}

}  // namespace
}  // namespace gpuemu
