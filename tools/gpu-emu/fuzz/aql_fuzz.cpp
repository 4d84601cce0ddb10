// SPDX-License-Identifier: GPL-2.0
// Purpose: libFuzzer target: bytes of a guest as a user's AQL ring, with the same bytes as the
// signals and PM4 buffers that its packets point to. Thread: single-threaded.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "gpu-emu/fuzz/bounded_turns.h"
#include "gpu-emu/testing/cp_bench.h"

namespace {

namespace gc = gpuemu::gc_9_4_3;

constexpr unsigned vmid = 8;
constexpr uint32_t doorbell = 0x1000;
constexpr uint64_t ring_base = 0x1000;
constexpr uint64_t ring_dwords = 1024;
constexpr int64_t slack = 4 * (0x4001 + 64);  // one packet

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    uint64_t rung = 0;
    if (size < sizeof(rung)) {
        return 0;
    }
    std::memcpy(&rung, data, sizeof(rung));
    std::vector<uint32_t> bytes(std::min<size_t>((size - sizeof(rung)) / 4, ring_dwords));
    std::copy_n(data + sizeof(rung), bytes.size() * 4, reinterpret_cast<uint8_t*>(bytes.data()));

    static gpuemu::test::Bench bench;  // its megabytes are too slow to make anew each time
    bench.reset();
    bench.memory.break_page(vmid, 0x3000);
    bench.memory.put(ring_base, bytes, vmid);
    bench.memory.put(0x4000, bytes, vmid);
    bench.memory.put(0, bytes, vmid);
    bench.select(1, 0, 2);
    const auto write = [&](gpuemu::Reg reg, uint32_t value) {
        bench.registers.write(bench.dword(reg), value);
    };
    write(gc::regCP_HQD_VMID, vmid);
    write(gc::regCP_HQD_PQ_BASE, ring_base >> 8);
    write(gc::regCP_HQD_PQ_CONTROL, 9);
    write(gc::regCP_HQD_PQ_RPTR_REPORT_ADDR, 0x5000);
    write(gc::regCP_HQD_PQ_DOORBELL_CONTROL, 1u << 30 | doorbell << 2);
    write(gc::regCP_HQD_AQL_CONTROL, 1);
    write(gc::regCP_HQD_ACTIVE, 1);
    for (const uint64_t index : {rung, bytes.size() / gpuemu::aql::packet_dwords}) {
        bench.mec.ring_doorbell(doorbell, index);
        gpuemu::fuzz::run_bounded(bench.mec, slack);
    }
    return 0;
}
