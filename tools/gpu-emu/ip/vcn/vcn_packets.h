// SPDX-License-Identifier: GPL-2.0
// Purpose: what the rings and buffers of VCN and JPEG are made of; numbers and names from
// drivers/gpu/drm/amd/amdgpu/{amdgpu_vcn.h,soc15d.h}, those of buffers as amdgpu_vcn.c and Mesa's
// ac_vcn_{enc,dec}.h have them. Thread: constants.
#pragma once

#include <cstdint>

#include "gpu-emu/ip/regs/registers.h"

namespace gpuemu::vcn_packets {

// Commands of a ring that the firmware fetches; how many dwords each has.
enum EncCmd : uint32_t {
    VCN_ENC_CMD_NO_OP = 0x0,
    VCN_ENC_CMD_END = 0x1,
    VCN_ENC_CMD_IB = 0x2,
    VCN_ENC_CMD_FENCE = 0x3,
    VCN_ENC_CMD_TRAP = 0x4,
    VCN_ENC_CMD_REG_WRITE = 0xb,
    VCN_ENC_CMD_REG_WAIT = 0xc,
};
constexpr uint32_t enc_cmd_dwords(uint32_t command) {
    switch (command) {
        case VCN_ENC_CMD_IB: return 5;         // VMID, address, dwords
        case VCN_ENC_CMD_FENCE: return 4;      // address, value
        case VCN_ENC_CMD_REG_WRITE: return 3;  // register in bytes, value
        case VCN_ENC_CMD_REG_WAIT: return 4;   // register in bytes, mask, value
        default: return 1;
    }
}

// PACKET0 of an RBC: registers in a row.
using PACKET_TYPE = Field<31, 30>;
using PACKET0_COUNT = Field<29, 16>;  // of dwords, less one
using PACKET0_REG = Field<15, 0>;
inline constexpr uint32_t PACKET_TYPE0 = 0, PACKET_TYPE2 = 2;

// UVD_GPCOM_VCPU_CMD.
using DEC_CMD = Field<30, 1>;
using DEC_KMD_CMD = Field<31, 31>;
enum DecCmd : uint32_t {  // of the kernel
    VCN_DEC_CMD_FENCE = 0x0,
    VCN_DEC_CMD_TRAP = 0x1,
    VCN_DEC_CMD_WRITE_REG = 0x4,
    VCN_DEC_CMD_REG_READ_COND_WAIT = 0x6,
    VCN_DEC_CMD_PACKET_START = 0xa,
    VCN_DEC_CMD_PACKET_END = 0xb,
};
inline constexpr uint32_t RDECODE_CMD_MSG_BUFFER = 0x0;  // of a user

// The packages of a buffer for the firmware: bytes, id, what follows.
inline constexpr uint32_t RADEON_VCN_ENGINE_INFO = 0x30000001, RADEON_VCN_SIGNATURE = 0x30000002;
inline constexpr uint32_t RDECODE_IB_PARAM_DECODE_BUFFER = 0x1, RENCODE_IB_PARAM_SESSION_INFO = 0x1;
inline constexpr uint32_t RENCODE_IB_OP_INITIALIZE = 0x08000001,
                          RENCODE_IB_OP_CLOSE_SESSION = 0x08000002;
inline constexpr uint32_t RADEON_VCN_ENGINE_TYPE_ENCODE = 2, RADEON_VCN_ENGINE_TYPE_DECODE = 3;
inline constexpr uint32_t RDECODE_CMDBUF_FLAGS_MSG_BUFFER = 0x1;

// struct rvcn_dec_message_header, in dwords.
inline constexpr uint32_t message_type = 3, message_handle = 4, message_header_dwords = 6;
inline constexpr uint32_t RDECODE_MSG_CREATE = 0x0, RDECODE_MSG_DECODE = 0x1,
                          RDECODE_MSG_DESTROY = 0x2;

// PACKETJ of a JRBC: two dwords each.
using PACKETJ_REG = Field<17, 0>;
using PACKETJ_CONDITION = Field<27, 24>;
using PACKETJ_TYPE = Field<31, 28>;
enum PacketjType : uint32_t {
    PACKETJ_TYPE0 = 0,  // write to a register
    PACKETJ_TYPE2 = 2,  // conditional read of memory
    PACKETJ_TYPE3 = 3,  // conditional read of a register
    PACKETJ_TYPE4 = 4,  // write to memory
    PACKETJ_TYPE6 = 6,  // nothing
    PACKETJ_TYPE7 = 7,  // trap
};
inline constexpr uint32_t PACKETJ_CONDITION_CHECK0 = 0, PACKETJ_CONDITION_CHECK3 = 3;
// Registers outside of JPEG: first the address in bytes, then the access.
inline constexpr uint32_t JRBC_EXTERNAL_REG = 0x1bfff, JRBC_DEC_EXTERNAL_REG_WRITE_ADDR = 0x18000;
inline constexpr uint32_t JRBC_IB_SIZE = 0x4082, JRBC_RB_REF_DATA = 0x4084, JRBC_STATUS = 0x4089,
                          JRBC_IB_REF_DATA = 0x408f;

}  // namespace gpuemu::vcn_packets
