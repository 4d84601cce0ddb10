// SPDX-License-Identifier: GPL-2.0
// Purpose: libFuzzer target: bytes of a guest as SDMA packets in the GFX queue's ring and in an
// indirect buffer of a user. Thread: single-threaded.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "gpu-emu/fuzz/bounded_turns.h"
#include "gpu-emu/testing/cp_bench.h"

namespace {

constexpr uint32_t queue = 0x1260 + 0x80;
constexpr uint32_t doorbell = 0x1e0;
constexpr uint64_t ring_base = 0x1000;
constexpr uint64_t ring_dwords = 1024;
constexpr uint64_t user_buffer = 0x4000;
/// One packet may take this much more than its budget: its fixed part and one piece.
constexpr int64_t slack = 4096;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using enum gpuemu::sdma_4_4_2::QueueReg;
    std::vector<uint32_t> packets(std::min<size_t>(size / 4, ring_dwords - 16));
    std::copy_n(data, packets.size() * 4, reinterpret_cast<uint8_t*>(packets.data()));

    static gpuemu::test::Bench bench;  // its megabytes are too slow to make anew each time
    bench.reset();
    bench.memory.break_page(0, 0x3000);
    bench.memory.put(user_buffer, packets, 8);
    bench.registers.write(queue + RB_RPTR_ADDR_LO, 0x800);
    bench.registers.write(queue + RB_BASE, ring_base >> 8);
    bench.registers.write(queue + DOORBELL, 1u << 28);
    bench.registers.write(queue + DOORBELL_OFFSET, doorbell << 2);
    bench.registers.write(queue + RB_CNTL, 1u << 12 | 10u << 1 | 1);
    gpuemu::test::Ring ring(bench.memory, ring_base, ring_dwords);
    ring.put({gpuemu::sdma::SDMA_OP_INDIRECT | 8u << 16, user_buffer, 0,
              static_cast<uint32_t>(packets.size()), 0, 0});
    ring.put(packets);
    bench.sdma0.ring_doorbell(doorbell, ring.wptr() * 4);
    gpuemu::fuzz::run_bounded(bench.sdma0, slack);
    return 0;
}
