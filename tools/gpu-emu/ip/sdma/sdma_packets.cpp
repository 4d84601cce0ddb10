// SPDX-License-Identifier: GPL-2.0
// Thread: pure functions.
#include "gpu-emu/ip/sdma/sdma_packets.h"

namespace gpuemu::sdma {
namespace {

uint32_t copy_dwords(uint32_t header) {
    const bool broadcast = COPY_BROADCAST::get(header) != 0;
    switch (SUB_OP::get(header)) {
        case SDMA_SUBOP_COPY_LINEAR: return broadcast ? 9 : 7;
        case SDMA_SUBOP_COPY_TILED: return broadcast ? 16 : 13;
        case SDMA_SUBOP_COPY_SOA: return 8;
        case SDMA_SUBOP_COPY_LINEAR_SUB_WIND: return 13;
        case SDMA_SUBOP_COPY_TILED_SUB_WIND: return 14;
        case SDMA_SUBOP_COPY_T2T_SUB_WIND: return 15;
        case SDMA_SUBOP_COPY_DIRTY_PAGE:
        case SDMA_SUBOP_COPY_LINEAR_PHY: return 7;
        default: return 1;
    }
}

uint32_t ptepde_dwords(uint32_t header) {
    switch (SUB_OP::get(header)) {
        case SDMA_SUBOP_PTEPDE_GEN: return 10;
        case SDMA_SUBOP_PTEPDE_COPY: return 8;
        case SDMA_SUBOP_PTEPDE_RMW:
        case SDMA_SUBOP_PTEPDE_COPY_BACKWARDS: return 7;
        default: return 1;
    }
}

uint32_t poll_dwords(uint32_t header) {
    switch (SUB_OP::get(header)) {
        case SDMA_SUBOP_POLL_REGMEM: return 6;
        case SDMA_SUBOP_POLL_REG_WRITE_MEM: return 4;
        case SDMA_SUBOP_POLL_DBIT_WRITE_MEM: return 5;
        case SDMA_SUBOP_POLL_MEM_VERIFY: return 13;
        case SDMA_SUBOP_VM_INVALIDATION: return 4;
        default: return 1;
    }
}

uint32_t fixed_dwords(uint32_t header) {
    switch (OP::get(header)) {
        case SDMA_OP_COPY: return copy_dwords(header);
        case SDMA_OP_WRITE: return SUB_OP::get(header) == SDMA_SUBOP_WRITE_TILED ? 9 : 4;
        case SDMA_OP_INDIRECT: return 6;
        case SDMA_OP_FENCE: return 4;
        case SDMA_OP_TRAP:
        case SDMA_OP_PRE_EXE:
        case SDMA_OP_DUMMY_TRAP: return 2;
        case SDMA_OP_SEM:
        case SDMA_OP_TIMESTAMP:
        case SDMA_OP_SRBM_WRITE: return 3;
        case SDMA_OP_POLL_REGMEM: return poll_dwords(header);
        case SDMA_OP_COND_EXE:
        case SDMA_OP_GCR_REQ: return 5;
        case SDMA_OP_ATOMIC: return 8;
        case SDMA_OP_CONST_FILL: return SUB_OP::get(header) == SDMA_SUBOP_DATA_FILL_MULTI ? 6 : 5;
        case SDMA_OP_PTEPDE: return ptepde_dwords(header);
        default: return 1;
    }
}

}  // namespace

std::optional<Length> length(std::span<const uint32_t> begin) {
    if (begin.empty()) {
        return std::nullopt;
    }
    const uint32_t header = begin[0];
    const uint32_t fixed = fixed_dwords(header);
    if (begin.size() < fixed) {
        return std::nullopt;
    }
    switch (OP::get(header)) {
        case SDMA_OP_NOP: return Length{fixed, NOP_COUNT::get(header)};
        // The last fixed dword of both WRITE packets counts the data, less one.
        case SDMA_OP_WRITE: return Length{fixed, WRITE_COUNT::get(begin[fixed - 1]) + 1};
        default: return Length{fixed, 0};
    }
}

}  // namespace gpuemu::sdma
