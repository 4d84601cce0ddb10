// SPDX-License-Identifier: GPL-2.0
// Thread: pure functions.
#include "gpu-emu/ip/cp/pm4.h"

namespace gpuemu::pm4 {

uint32_t packet_dwords(uint32_t header) {
    const uint32_t type = PACKET_TYPE::get(header);
    const uint32_t count = PACKET_COUNT::get(header);
    if (type == PACKET_TYPE0) {
        return count + 2;
    }
    if (type != PACKET_TYPE3) {
        return 1;
    }
    // A NOP with the largest count is one dword of padding (adev->gfx ring nops are
    // PACKET3(PACKET3_NOP, 0x3FFF)).
    const bool padding = PACKET_OPCODE::get(header) == PACKET3_NOP &&
                         PACKET_COUNT::set(0, count) == PACKET_COUNT::mask;
    return padding ? 1 : count + 2;
}

}  // namespace gpuemu::pm4
