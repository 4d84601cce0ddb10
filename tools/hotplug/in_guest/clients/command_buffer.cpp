// SPDX-License-Identifier: GPL-2.0
// Purpose: writes PM4 and SDMA packets into an indirect buffer. Packet layouts: soc15d.h and
// sdma_v4_4_2.c of amdgpu. Thread: not synchronised; the client's one thread owns it.
#include "hotplug/in_guest/clients/command_buffer.h"

namespace hp::clients {

namespace {

constexpr std::uint32_t PACKET3(std::uint32_t op, std::uint32_t count) {
    return 3u << 30 | (count & 0x3fff) << 16 | op << 8;
}
constexpr std::uint32_t PACKET3_NOP = 0x10;
constexpr std::uint32_t PACKET3_ATOMIC_MEM = 0x1e;
constexpr std::uint32_t PACKET3_WRITE_DATA = 0x37;
constexpr std::uint32_t PACKET3_WAIT_REG_MEM = 0x3c;
constexpr std::uint32_t PACKET3_COPY_DATA = 0x40;
constexpr std::uint32_t TC_OP_ATOMIC_ADD_RTN_32 = 0x0f;  // vega10_enum.h
constexpr std::uint32_t TC_OP_ATOMIC_XOR_RTN_32 = 0x17;
constexpr std::uint32_t COPY_DATA_SRC_SEL_MEM = 1;
constexpr std::uint32_t COPY_DATA_DST_SEL_MEM = 5u << 8;
constexpr std::uint32_t WRITE_DATA_DST_SEL_MEM = 5u << 8;
constexpr std::uint32_t WR_CONFIRM = 1u << 20;
constexpr std::uint32_t WAIT_REG_MEM_FUNCTION_EQUAL = 3;
constexpr std::uint32_t WAIT_REG_MEM_MEM_SPACE_MEM = 1u << 4;
constexpr std::uint32_t wait_poll_interval = 4;

constexpr std::uint32_t SDMA_OP_NOP = 0;
constexpr std::uint32_t SDMA_OP_COPY = 1;
constexpr std::uint32_t SDMA_OP_CONST_FILL = 11;

constexpr unsigned ib_alignment_dw = 8;

}  // namespace

void CommandBuffer::put_address(std::uint64_t address) {
    put(static_cast<std::uint32_t>(address));
    put(static_cast<std::uint32_t>(address >> 32));
}

void CommandBuffer::pm4_write_data(std::uint64_t address, std::uint32_t value) {
    put(PACKET3(PACKET3_WRITE_DATA, 3));
    put(WRITE_DATA_DST_SEL_MEM | WR_CONFIRM);
    put_address(address);
    put(value);
}

void CommandBuffer::pm4_wait(std::uint64_t address, std::uint32_t value) {
    put(PACKET3(PACKET3_WAIT_REG_MEM, 5));
    put(WAIT_REG_MEM_MEM_SPACE_MEM | WAIT_REG_MEM_FUNCTION_EQUAL);
    put_address(address);
    put(value);
    put(~0u);
    put(wait_poll_interval);
}

void CommandBuffer::pm4_atomic(std::uint32_t operation, std::uint64_t address,
                               std::uint32_t value) {
    put(PACKET3(PACKET3_ATOMIC_MEM, 7));
    put(operation);
    put_address(address);
    put_address(value);
    put_address(0);  // compared with by other operations only
    put(0);
}

void CommandBuffer::pm4_atomic_add(std::uint64_t address, std::uint32_t value) {
    pm4_atomic(TC_OP_ATOMIC_ADD_RTN_32, address, value);
}

void CommandBuffer::pm4_atomic_xor(std::uint64_t address, std::uint32_t value) {
    pm4_atomic(TC_OP_ATOMIC_XOR_RTN_32, address, value);
}

void CommandBuffer::pm4_copy(std::uint64_t from, std::uint64_t to) {
    put(PACKET3(PACKET3_COPY_DATA, 4));
    put(COPY_DATA_SRC_SEL_MEM | COPY_DATA_DST_SEL_MEM | WR_CONFIRM);
    put_address(from);
    put_address(to);
}

void CommandBuffer::pm4_pad() {
    while (size_ % ib_alignment_dw != 0) {
        put(PACKET3(PACKET3_NOP, 0x3fff));  // this count means: one dword in all
    }
}

void CommandBuffer::sdma_fill(std::uint64_t address, std::uint32_t value, std::uint32_t bytes) {
    put(SDMA_OP_CONST_FILL);
    put_address(address);
    put(value);
    put(bytes - 1);
}

void CommandBuffer::sdma_copy(std::uint64_t from, std::uint64_t to, std::uint32_t bytes) {
    put(SDMA_OP_COPY);
    put(bytes - 1);
    put(0);
    put_address(from);
    put_address(to);
}

void CommandBuffer::sdma_pad() {
    while (size_ % ib_alignment_dw != 0) {
        put(SDMA_OP_NOP);
    }
}

}  // namespace hp::clients
