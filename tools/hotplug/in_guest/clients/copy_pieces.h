// SPDX-License-Identifier: GPL-2.0
// Purpose: which parts of a buffer vk_copy writes and copies in a round, and with what.
// Thread: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace hp::clients {

/// A buffer is so many slots with one piece each.
inline constexpr std::uint32_t slots = 24;
/// RADV gives what is shorter than 4096 bytes to the DMA engine of the command processor, and
/// anything else to a compute shader (RADV_BUFFER_OPS_CS_THRESHOLD).
inline constexpr std::uint32_t slot_bytes = 4096;
/// Shorter than this, it writes the data of vkCmdUpdateBuffer with a packet, else it copies them
/// (RADV_BUFFER_UPDATE_THRESHOLD).
inline constexpr std::uint32_t short_update = 1024;

enum class Written { filled, updated_short, updated };

/// Byte offsets in the buffer.
struct Piece {
    Written written;
    std::uint32_t offset;       ///< a dword's
    std::uint32_t size;         ///< whole dwords
    std::uint32_t copy_offset;  ///< what of it is copied: any bytes
    std::uint32_t copy_size;
};

/// Sizes, places and kinds change from round to round, so that what is left of one before is seen.
Piece piece_of(std::uint32_t round, std::uint32_t slot);

/// What an update writes; a fill writes the first dword of it only.
void make_data(std::uint32_t round, std::uint32_t slot, std::span<std::uint32_t> data);

}  // namespace hp::clients
