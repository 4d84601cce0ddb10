// SPDX-License-Identifier: GPL-2.0
// Purpose: libFuzzer target: bytes of a guest as PM4 packets in the KIQ's ring, an indirect buffer
// and a run list. Nothing may crash, hang, or use more than its budget by more than one packet.
// Thread: single-threaded.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "gpu-emu/fuzz/bounded_turns.h"
#include "gpu-emu/testing/cp_bench.h"

namespace {

constexpr uint64_t user_buffer = 0x4000;
/// One packet may read or write this much more than its budget: itself.
constexpr int64_t slack = 4 * (0x4001 + 64);

std::vector<uint32_t> dwords_of(const uint8_t* data, size_t size) {
    std::vector<uint32_t> dwords(size / 4);
    std::copy_n(data, dwords.size() * 4, reinterpret_cast<uint8_t*>(dwords.data()));
    return dwords;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    auto packets = dwords_of(data, std::min<size_t>(size, 4 * gpuemu::test::Bench::kiq_dwords));
    static gpuemu::test::Bench bench;  // its megabytes are too slow to make anew each time
    bench.reset();
    bench.start_kiq();
    bench.memory.break_page(0, 0x3000);
    // The same bytes as an unprivileged buffer and as what packets most likely point to.
    bench.memory.put(user_buffer, packets, 8);
    bench.memory.put(0x8000, packets);
    packets.resize(std::min<size_t>(packets.size(), gpuemu::test::Bench::kiq_dwords - 8));
    gpuemu::test::Ring ring(bench.memory, gpuemu::test::Bench::kiq_ring,
                            gpuemu::test::Bench::kiq_dwords);
    ring.put({gpuemu::pm4::header(gpuemu::pm4::PACKET3_INDIRECT_BUFFER, 3), user_buffer, 0,
              static_cast<uint32_t>(packets.size()) | 8u << 24});
    ring.put(packets);
    bench.mec.ring_doorbell(gpuemu::test::Bench::kiq_doorbell, ring.wptr());
    gpuemu::fuzz::run_bounded(bench.mec, slack, [] { bench.run(bench.sdma0, {.packets = 8}); });
    if (bench.mec.describe().size() > 1u << 20) {
        std::abort();
    }
    return 0;
}
