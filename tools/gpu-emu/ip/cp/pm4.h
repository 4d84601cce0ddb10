// SPDX-License-Identifier: GPL-2.0
// Purpose: PM4, the packet format of the command processors: headers, opcodes and the fields the
// model reads. Names and numbers from drivers/gpu/drm/amd/amdgpu/soc15d.h and nvd.h,
// amdkfd/kfd_pm4_opcodes.h and kfd_pm4_headers_{ai,aldebaran}.h. Thread: constants and pure
// functions.
#pragma once

#include <cstdint>

#include "gpu-emu/ip/regs/registers.h"

namespace gpuemu::pm4 {

enum Opcode : uint8_t {
    PACKET3_NOP = 0x10,
    PACKET3_SET_BASE = 0x11,
    PACKET3_CLEAR_STATE = 0x12,
    PACKET3_DISPATCH_DIRECT = 0x15,
    PACKET3_DISPATCH_INDIRECT = 0x16,
    PACKET3_ATOMIC_MEM = 0x1e,
    PACKET3_COND_EXEC = 0x22,
    PACKET3_PRED_EXEC = 0x23,
    PACKET3_CONTEXT_CONTROL = 0x28,
    PACKET3_INDIRECT_BUFFER_CNST = 0x33,
    PACKET3_WRITE_DATA = 0x37,
    PACKET3_WAIT_REG_MEM = 0x3c,
    PACKET3_INDIRECT_BUFFER = 0x3f,
    PACKET3_COPY_DATA = 0x40,
    PACKET3_PFP_SYNC_ME = 0x42,
    PACKET3_EVENT_WRITE = 0x46,
    PACKET3_RELEASE_MEM = 0x49,
    PACKET3_PREAMBLE_CNTL = 0x4a,
    PACKET3_DMA_DATA = 0x50,
    PACKET3_ACQUIRE_MEM = 0x58,
    PACKET3_SET_CONFIG_REG = 0x68,
    PACKET3_SET_CONTEXT_REG = 0x69,
    PACKET3_SET_CONTEXT_REG_INDEX = 0x6a,
    PACKET3_SET_SH_REG = 0x76,
    PACKET3_SET_UCONFIG_REG = 0x79,
    PACKET3_SET_UCONFIG_REG_INDEX = 0x7a,
    PACKET3_SWITCH_BUFFER = 0x8b,
    PACKET3_FRAME_CONTROL = 0x90,
    PACKET3_INVALIDATE_TLBS = 0x98,
    PACKET3_SET_SH_REG_INDEX = 0x9b,
    PACKET3_SET_RESOURCES = 0xa0,
    PACKET3_MAP_PROCESS = 0xa1,
    PACKET3_MAP_QUEUES = 0xa2,
    PACKET3_UNMAP_QUEUES = 0xa3,
    PACKET3_QUERY_STATUS = 0xa4,
    PACKET3_RUN_LIST = 0xa5,
    PACKET3_RUN_CLEANER_SHADER = 0xd2,
    PACKET3_RUN_CLEANER_SHADER_9_0 = 0xd7,
};

// Header.
using PACKET_TYPE = Field<31, 30>;
using PACKET_COUNT = Field<29, 16>;
using PACKET_OPCODE = Field<15, 8>;
inline constexpr uint32_t PACKET_TYPE0 = 0;
inline constexpr uint32_t PACKET_TYPE3 = 3;
inline constexpr uint32_t max_packet_dwords = PACKET_COUNT::mask / (1u << 16) + 2;

/// Length of a packet with its header, from 1 to max_packet_dwords.
uint32_t packet_dwords(uint32_t header);

/// A type 3 header with `body` dwords behind it.
constexpr uint32_t header(Opcode opcode, uint32_t body) {
    return PACKET_TYPE3 << 30 | (body - 1) << 16 | uint32_t{opcode} << 8;
}

// Where SET_*_REG count from and how far they reach (dwords).
struct RegisterSpace {
    uint32_t first, end;
    constexpr bool contains(uint32_t dword) const { return dword >= first && dword < end; }
};
inline constexpr RegisterSpace config_space{0x2000, 0x2c00};
inline constexpr RegisterSpace sh_space{0x2c00, 0x3000};
inline constexpr RegisterSpace context_space{0xa000, 0xa400};
inline constexpr RegisterSpace uconfig_space{0xc000, 0x10000};
/// PACKET3_SET_UCONFIG_REG_END: what an unprivileged buffer may reach; RLC and CP registers lie
/// behind.
inline constexpr RegisterSpace user_uconfig_space{0xc000, 0xc400};
using SET_REG__OFFSET = Field<15, 0>;
using REGISTER_ADDRESS = Field<17, 0>;  // of all other packets

// CONTROL of WRITE_DATA.
using WRITE_DATA__DST_SEL = Field<11, 8>;
using WRITE_DATA__WR_ONE_ADDR = Field<16, 16>;
// CONTROL of COPY_DATA.
using COPY_DATA__SRC_SEL = Field<3, 0>;
using COPY_DATA__DST_SEL = Field<11, 8>;
using COPY_DATA__COUNT_SEL = Field<16, 16>;
/// SRC_SEL and DST_SEL of both; a _DST or _SRC in the name: only there.
enum DataSel : uint32_t {
    MEM_MAPPED_REGISTER = 0,
    MEMORY_SYNC = 1,
    TC_L2 = 2,
    MEMORY_DST = 5,
    IMMEDIATE_DATA_SRC = 5,
    GPU_CLOCK_COUNT_SRC = 9,
};

using WAIT_REG_MEM__FUNCTION = Field<2, 0>;
using WAIT_REG_MEM__MEM_SPACE = Field<5, 4>;
using WAIT_REG_MEM__OPERATION = Field<7, 6>;
inline constexpr uint32_t WAIT_REG_MEM__OPERATION__WR_WAIT_WR_REG = 1;

using INDIRECT_BUFFER__IB_SIZE = Field<19, 0>;
using INDIRECT_BUFFER__CHAIN = Field<20, 20>;
using INDIRECT_BUFFER__VMID = Field<27, 24>;
inline constexpr uint64_t ib_address_mask = 0xfffffffffffcull;  // 48 bits, dword aligned

using RELEASE_MEM__INT_SEL = Field<26, 24>;
using RELEASE_MEM__DATA_SEL = Field<31, 29>;
enum ReleaseMemIntSel : uint32_t {
    INT_SEL_NONE = 0,
    INT_SEL_SEND_INTERRUPT_ONLY = 1,
    INT_SEL_SEND_INTERRUPT_AFTER_WRITE_CONFIRM = 2,
    INT_SEL_SEND_DATA_AFTER_WRITE_CONFIRM = 3,
    INT_SEL_UNCONDITIONALLY_SEND_INT_CTXID = 4,
};
enum ReleaseMemDataSel : uint32_t {
    DATA_SEL_NONE = 0,
    DATA_SEL_SEND_32_BIT_LOW = 1,
    DATA_SEL_SEND_64_BIT_DATA = 2,
    DATA_SEL_SEND_GPU_CLOCK_COUNTER = 3,
};

using DMA_DATA__DST_SEL = Field<21, 20>;
using DMA_DATA__SRC_SEL = Field<30, 29>;
inline constexpr uint32_t DMA_DATA__SEL__ADDRESS = 0;
inline constexpr uint32_t DMA_DATA__SEL__GDS = 1;
inline constexpr uint32_t DMA_DATA__SRC_SEL__DATA = 2;
inline constexpr uint32_t DMA_DATA__DST_SEL__NOWHERE = 2;  // as Mesa's sid.h calls it: into L2 only
using DMA_DATA__BYTE_COUNT = Field<25, 0>;
/// SAS, DAS, SAIC, DAIC: registers instead of memory, or an address that stays.
using DMA_DATA__ADDRESS_MODES = Field<29, 26>;

using ATOMIC_MEM__ATOMIC = Field<6, 0>;
using ATOMIC_MEM__COMMAND = Field<11, 8>;
inline constexpr uint32_t ATOMIC_MEM__COMMAND__LOOP_UNTIL_COMPARE_SATISFIED = 1;

using COND_EXEC__EXEC_COUNT = Field<13, 0>;
using PRED_EXEC__EXEC_COUNT = Field<13, 0>;
using PRED_EXEC__VIRTUAL_XCC_ID_SELECT = Field<31, 24>;

using INVALIDATE_TLBS__DST_SEL = Field<3, 0>;
using INVALIDATE_TLBS__ALL_HUB = Field<4, 4>;
using INVALIDATE_TLBS__PASID = Field<20, 5>;
inline constexpr uint32_t INVALIDATE_TLBS__DST_SEL__PASID = 1;

// Scheduler packets.
using SET_RESOURCES__VMID_MASK = Field<15, 0>;
using SET_RESOURCES__QUEUE_TYPE = Field<31, 29>;
inline constexpr uint32_t SET_RESOURCES__QUEUE_TYPE__HIQ = 1;

using MAP_PROCESS__PASID = Field<15, 0>;

using MAP_QUEUES__EXTENDED_ENGINE_SEL = Field<3, 2>;
using MAP_QUEUES__QUEUE_SEL = Field<5, 4>;
using MAP_QUEUES__QUEUE = Field<15, 13>;
using MAP_QUEUES__PIPE = Field<17, 16>;
using MAP_QUEUES__ME = Field<18, 18>;
using MAP_QUEUES__QUEUE_TYPE = Field<23, 21>;
using MAP_QUEUES__ENGINE_SEL = Field<28, 26>;
using MAP_QUEUES__DOORBELL_OFFSET = Field<27, 2>;
inline constexpr uint32_t MAP_QUEUES__QUEUE_SEL__SPECIFIED_SLOTS = 0;
inline constexpr uint32_t MAP_QUEUES__QUEUE_TYPE__NORMAL_LATENCY_STATIC_QUEUE = 2;
inline constexpr uint32_t MAP_QUEUES__QUEUE_TYPE__LOW_LATENCY_STATIC_QUEUE = 3;
/// engine_sel with the legacy extended_engine_sel; HIQ is only said by the KIQ.
enum EngineSel : uint32_t {
    ENGINE_COMPUTE = 0,
    ENGINE_HIQ = 1,
    ENGINE_SDMA0 = 2,
    ENGINE_SDMA1 = 3,
    ENGINE_GFX = 4
};
enum ExtendedEngineSel : uint32_t {
    LEGACY_ENGINE_SEL = 0,
    SDMA0_TO_7_SEL = 1,
    SDMA8_TO_15_SEL = 2
};

using UNMAP_QUEUES__ACTION = Field<1, 0>;
using UNMAP_QUEUES__QUEUE_SEL = Field<5, 4>;
using UNMAP_QUEUES__NUM_QUEUES = Field<31, 29>;
using UNMAP_QUEUES__PASID = Field<15, 0>;
using UNMAP_QUEUES__DOORBELL_OFFSET = Field<27, 2>;
enum UnmapAction : uint32_t {
    PREEMPT_QUEUES = 0,
    RESET_QUEUES = 1,
    DISABLE_PROCESS_QUEUES = 2,
    PREEMPT_QUEUES_NO_UNMAP = 3,
};
enum UnmapQueueSel : uint32_t {
    SPECIFIED_QUEUES = 0,
    PASID_QUEUES = 1,
    ALL_QUEUES = 2,
    ALL_NON_STATIC_QUEUES = 3,
};

using QUERY_STATUS__CONTEXT_ID = Field<27, 0>;
using QUERY_STATUS__COMMAND = Field<31, 30>;
enum QueryStatusCommand : uint32_t {
    INTERRUPT_ONLY = 0,
    FENCE_ONLY_IMMEDIATE = 1,
    FENCE_ONLY_AFTER_WRITE_ACK = 2,
    FENCE_WAIT_FOR_WRITE_ACK_SEND_INTERRUPT = 3,
};

using RUN_LIST__IB_SIZE = Field<19, 0>;
using RUN_LIST__CHAIN = Field<20, 20>;

}  // namespace gpuemu::pm4
