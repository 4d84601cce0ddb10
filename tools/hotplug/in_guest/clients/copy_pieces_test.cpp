// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of copy_pieces.h: no piece is one for a shader, none leaves its slot, all kinds
// and lengths come. Thread: one.
#include "hotplug/in_guest/clients/copy_pieces.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>

namespace hp::clients {
namespace {

constexpr std::uint32_t rounds = 2000;

template <typename Look>
void for_all_pieces(Look look) {
    for (std::uint32_t round = 0; round < rounds; ++round) {
        for (std::uint32_t slot = 0; slot < slots; ++slot) {
            look(piece_of(round, slot), slot);
        }
    }
}

TEST(CopyPieces, AreTooShortForAShaderAndStayInTheirSlot) {
    for_all_pieces([](const Piece& piece, std::uint32_t slot) {
        ASSERT_GT(piece.size, 0u);
        ASSERT_LT(piece.size, slot_bytes);
        ASSERT_EQ(piece.size % 4, 0u);
        ASSERT_EQ(piece.offset % 4, 0u);
        ASSERT_GE(piece.offset, slot * slot_bytes);
        ASSERT_LE(piece.offset + piece.size, (slot + 1) * slot_bytes);
    });
}

TEST(CopyPieces, CopyOnlyWhatWasWritten) {
    for_all_pieces([](const Piece& piece, std::uint32_t) {
        ASSERT_GT(piece.copy_size, 0u);
        ASSERT_GE(piece.copy_offset, piece.offset);
        ASSERT_LE(piece.copy_offset + piece.copy_size, piece.offset + piece.size);
    });
}

TEST(CopyPieces, AreUpdatedByPacketAndByCopy) {
    for_all_pieces([](const Piece& piece, std::uint32_t) {
        if (piece.written != Written::filled) {
            ASSERT_EQ(piece.size < short_update, piece.written == Written::updated_short);
        }
    });
}

TEST(CopyPieces, HaveEachKindWithManyLengthsInEachSlot) {
    std::map<std::uint32_t, std::map<Written, std::set<std::uint32_t>>> lengths;
    for_all_pieces([&](const Piece& piece, std::uint32_t slot) {
        lengths[slot][piece.written].insert(piece.size);
    });
    ASSERT_EQ(lengths.size(), slots);
    for (const auto& [slot, kinds] : lengths) {
        ASSERT_EQ(kinds.size(), 3u) << slot;
        for (const auto& [kind, seen] : kinds) {
            EXPECT_GT(seen.size(), 50u) << slot;
        }
    }
}

TEST(CopyPieces, DataDiffersBetweenRoundsAndSlots) {
    std::set<std::uint32_t> first;
    for (std::uint32_t round = 0; round < 100; ++round) {
        for (std::uint32_t slot = 0; slot < slots; ++slot) {
            std::array<std::uint32_t, 2> data{};
            make_data(round, slot, data);
            EXPECT_NE(data[0], data[1]);
            first.insert(data[0]);
        }
    }
    EXPECT_EQ(first.size(), 100 * slots);
}

}  // namespace
}  // namespace hp::clients
