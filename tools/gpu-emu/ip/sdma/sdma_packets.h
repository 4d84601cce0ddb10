// SPDX-License-Identifier: GPL-2.0
// Purpose: the packets of SDMA 4.x, and what 5.x has besides: opcodes, fields, lengths. Names and
// numbers from drivers/gpu/drm/amd/amdgpu/{vega10,navi10}_sdma_pkt_open.h.
// Thread: constants and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "gpu-emu/ip/regs/registers.h"

namespace gpuemu::sdma {

enum Opcode : uint8_t {
    SDMA_OP_NOP = 0,
    SDMA_OP_COPY = 1,
    SDMA_OP_WRITE = 2,
    SDMA_OP_INDIRECT = 4,
    SDMA_OP_FENCE = 5,
    SDMA_OP_TRAP = 6,
    SDMA_OP_SEM = 7,
    SDMA_OP_POLL_REGMEM = 8,
    SDMA_OP_COND_EXE = 9,
    SDMA_OP_ATOMIC = 10,
    SDMA_OP_CONST_FILL = 11,
    SDMA_OP_PTEPDE = 12,
    SDMA_OP_TIMESTAMP = 13,
    SDMA_OP_SRBM_WRITE = 14,
    SDMA_OP_PRE_EXE = 15,
    SDMA_OP_DUMMY_TRAP = 16,
    SDMA_OP_GCR_REQ = 17,  // SDMA 5
};

enum CopySubop : uint8_t {
    SDMA_SUBOP_COPY_LINEAR = 0,
    SDMA_SUBOP_COPY_TILED = 1,
    SDMA_SUBOP_COPY_SOA = 3,
    SDMA_SUBOP_COPY_LINEAR_SUB_WIND = 4,
    SDMA_SUBOP_COPY_TILED_SUB_WIND = 5,
    SDMA_SUBOP_COPY_T2T_SUB_WIND = 6,
    SDMA_SUBOP_COPY_DIRTY_PAGE = 7,
    SDMA_SUBOP_COPY_LINEAR_PHY = 8,
};
enum WriteSubop : uint8_t { SDMA_SUBOP_WRITE_LINEAR = 0, SDMA_SUBOP_WRITE_TILED = 1 };
enum FillSubop : uint8_t { SDMA_SUBOP_CONST_FILL = 0, SDMA_SUBOP_DATA_FILL_MULTI = 1 };
enum PtepdeSubop : uint8_t {
    SDMA_SUBOP_PTEPDE_GEN = 0,
    SDMA_SUBOP_PTEPDE_COPY = 1,
    SDMA_SUBOP_PTEPDE_RMW = 2,
    SDMA_SUBOP_PTEPDE_COPY_BACKWARDS = 3,
};
enum PollSubop : uint8_t {
    SDMA_SUBOP_POLL_REGMEM = 0,
    SDMA_SUBOP_POLL_REG_WRITE_MEM = 1,
    SDMA_SUBOP_POLL_DBIT_WRITE_MEM = 2,
    SDMA_SUBOP_POLL_MEM_VERIFY = 3,
    SDMA_SUBOP_VM_INVALIDATION = 4,  // SDMA 5
};
enum TimestampSubop : uint8_t {
    SDMA_SUBOP_TIMESTAMP_SET = 0,
    SDMA_SUBOP_TIMESTAMP_GET = 1,
    SDMA_SUBOP_TIMESTAMP_GET_GLOBAL = 2,
};

// Header.
using OP = Field<7, 0>;
using SUB_OP = Field<15, 8>;
using NOP_COUNT = Field<29, 16>;
using COPY_BROADCAST = Field<27, 27>;
using INDIRECT_VMID = Field<19, 16>;
using VM_INVALIDATION_GFX_ENG_ID = Field<20, 16>;
using VM_INVALIDATION_MM_ENG_ID = Field<28, 24>;
using POLL_HDP_FLUSH = Field<26, 26>;
using POLL_FUNC = Field<30, 28>;
using POLL_MEM_POLL = Field<31, 31>;
using ATOMIC_LOOP = Field<16, 16>;
using ATOMIC_OP = Field<31, 25>;
using SRBM_BYTE_EN = Field<31, 28>;

// Further dwords. Copies and fills count bytes - 1 in 30 bits since SDMA 4.4 (vega10 had 22).
using BYTE_COUNT = Field<29, 0>;
using WRITE_COUNT = Field<19, 0>;
using IB_SIZE = Field<19, 0>;
using EXEC_COUNT = Field<13, 0>;
using PTEPDE_COUNT = Field<18, 0>;
using INT_CONTEXT = Field<27, 0>;
using SRBM_ADDR = Field<17, 0>;
inline constexpr uint64_t ib_base_mask = ~uint64_t{0x1f};
/// Where a register's address is in a POLL_REGMEM: HDP shall be flushed. The firmware has it since
/// 0x1a5, for queues of users, who have no register for it (hdp_flush_cmd of ROCr).
inline constexpr uint64_t hdp_flush_address = uint64_t{1} << 63;

/// The longest part of a packet in front of its payload.
inline constexpr uint32_t max_fixed_dwords = 16;

struct Length {
    uint32_t fixed;    // dwords in front of the payload
    uint32_t payload;  // dwords of data in the packet
    uint64_t total() const { return uint64_t{fixed} + payload; }
};

/// Length of the packet that begins with `begin`; nothing if `begin` is too short to tell. An
/// unknown packet is one dword.
std::optional<Length> length(std::span<const uint32_t> begin);

}  // namespace gpuemu::sdma
