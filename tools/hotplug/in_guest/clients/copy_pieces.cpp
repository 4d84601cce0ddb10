// SPDX-License-Identifier: GPL-2.0
// Purpose: see copy_pieces.h.
// Thread: pure functions.
#include "hotplug/in_guest/clients/copy_pieces.h"

#include <algorithm>

namespace hp::clients {

Piece piece_of(std::uint32_t round, std::uint32_t slot) {
    constexpr std::uint32_t slot_dwords = slot_bytes / 4;
    std::uint32_t dwords = 1 + (round * 37 + slot * 61) % (slot_dwords - 1);
    Piece piece{};
    switch ((round / 2 + slot) % 3) {
        case 0: piece.written = Written::filled; break;
        case 1:
            piece.written = Written::updated_short;
            dwords = std::min(dwords, short_update / 4 - 1);
            break;
        default:
            piece.written = Written::updated;
            dwords = std::max(dwords, short_update / 4);
            break;
    }
    piece.size = 4 * dwords;
    piece.offset = slot * slot_bytes + 4 * (round % (slot_dwords - dwords));
    const std::uint32_t skew = slot % 4;  // less than the shortest piece
    piece.copy_offset = piece.offset + skew;
    piece.copy_size = piece.size - skew;
    return piece;
}

void make_data(std::uint32_t round, std::uint32_t slot, std::span<std::uint32_t> data) {
    std::uint32_t value = (round + 1) * 2654435761u ^ slot << 24;
    for (std::uint32_t& dword : data) {
        value = value * 1664525u + 1013904223u;
        dword = value;
    }
}

}  // namespace hp::clients
