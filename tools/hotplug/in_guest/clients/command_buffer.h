// SPDX-License-Identifier: GPL-2.0
// Purpose: writes PM4 and SDMA packets into an indirect buffer. Packet layouts: soc15d.h and
// sdma_v4_4_2.c of amdgpu. Thread: not synchronised; the client's one thread owns it.
#pragma once

#include <cstdint>

namespace hp::clients {

class CommandBuffer {
public:
    explicit CommandBuffer(volatile std::uint32_t* dwords) : dwords_(dwords) {}

    unsigned size() const { return size_; }

    /// PACKET3_WRITE_DATA of one dword to memory, confirmed.
    void pm4_write_data(std::uint64_t address, std::uint32_t value);
    /// PACKET3_ATOMIC_MEM: adds to, or inverts bits of, one dword of memory.
    void pm4_atomic_add(std::uint64_t address, std::uint32_t value);
    void pm4_atomic_xor(std::uint64_t address, std::uint32_t value);
    /// PACKET3_COPY_DATA of one dword from memory to memory, confirmed.
    void pm4_copy(std::uint64_t from, std::uint64_t to);
    /// PACKET3_WAIT_REG_MEM: goes on when the dword in memory has this value.
    void pm4_wait(std::uint64_t address, std::uint32_t value);
    /// Pads with PACKET3_NOP to the size the ring wants.
    void pm4_pad();

    /// SDMA_OP_CONST_FILL
    void sdma_fill(std::uint64_t address, std::uint32_t value, std::uint32_t bytes);
    /// SDMA_OP_COPY, linear
    void sdma_copy(std::uint64_t from, std::uint64_t to, std::uint32_t bytes);
    void sdma_pad();

private:
    void put(std::uint32_t dword) { dwords_[size_++] = dword; }
    void put_address(std::uint64_t address);
    void pm4_atomic(std::uint32_t operation, std::uint64_t address, std::uint32_t value);

    volatile std::uint32_t* dwords_;
    unsigned size_ = 0;
};

}  // namespace hp::clients
