// SPDX-License-Identifier: GPL-2.0
// Purpose: libFuzzer target: what the XCCs of an MI308X, which keep step in queues that they share,
// make of a guest that says what it likes: CP_HYP_XCP_CTL of each XCC before and after the HIQ is
// mapped, then bytes as the packets of the HIQ, a run list, the MQDs and a user's AQL ring. Thread:
// single-threaded.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "gpu-emu/ip/cp/aql.h"
#include "gpu-emu/testing/xcc_bench.h"

namespace {

namespace gc = gpuemu::gc_9_4_3;
using gpuemu::test::XccBench;

constexpr unsigned vmid = 8;
constexpr uint32_t mqds = 0x6000, run_list = 0x8000, user_ring = 0x1000, user_doorbell = 0x1000;
constexpr uint32_t write_index = 0x3000;
constexpr std::size_t most_dwords = 512;
constexpr int64_t slack = 4 * (0x4001 + 64);  // one packet

void divide(XccBench& bench, const std::array<uint8_t, XccBench::xccs>& controls) {
    for (unsigned xcc = 0; xcc < XccBench::xccs; ++xcc) {
        bench.registers.write(bench.dword(xcc, gc::regCP_HYP_XCP_CTL), controls[xcc]);
    }
}

/// Some turns of all that is kicked; an engine that waits is not asked again.
void run_bounded(XccBench& bench) {
    for (int turn = 0; turn < 50 && !bench.kicker.kicked.empty(); ++turn) {
        for (gpuemu::Engine* const engine : std::exchange(bench.kicker.kicked, {})) {
            gpuemu::Budget budget{.packets = 8, .bytes = 4096};
            if (engine->run(budget) == gpuemu::Engine::Turn::more) {
                bench.kicker.kick(*engine);
            }
            if (budget.packets < 0 || budget.bytes < -slack) {
                std::abort();
            }
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    std::array<std::array<uint8_t, XccBench::xccs>, 2> controls;
    if (size < sizeof(controls)) {
        return 0;
    }
    std::memcpy(controls.data(), data, sizeof(controls));
    std::vector<uint32_t> bytes(std::min((size - sizeof(controls)) / 4, most_dwords));
    std::copy_n(data + sizeof(controls), bytes.size() * 4,
                reinterpret_cast<uint8_t*>(bytes.data()));

    static XccBench bench;  // its megabytes are too slow to make anew each time
    bench.reset();
    bench.memory.put(run_list, bytes);
    bench.memory.put(user_ring, bytes, vmid);
    bench.memory.put64(write_index, bytes.size() / gpuemu::aql::packet_dwords, vmid);
    divide(bench, controls[0]);
    bench.load_hiq(0, XccBench::xccs);
    for (uint32_t xcc = 0; xcc < XccBench::xccs; ++xcc) {
        const uint32_t mqd = mqds + xcc * XccBench::mqd_stride;
        bench.set_mqd(mqd, XccBench::mqd_dword(gc::regCP_HQD_PQ_BASE), user_ring >> 8);
        bench.set_mqd(mqd, XccBench::mqd_dword(gc::regCP_HQD_PQ_CONTROL), 8);
        bench.set_mqd(mqd, XccBench::mqd_dword(gc::regCP_HQD_AQL_CONTROL), 1);
        bench.set_mqd(mqd, 226, XccBench::mqd_stride);
    }
    using gpuemu::pm4::header;
    std::vector<uint32_t> process(16);
    process[0] = header(gpuemu::pm4::PACKET3_MAP_PROCESS, 15);
    bench.hiqs[0].put(process);
    bench.hiqs[0].put({header(gpuemu::pm4::PACKET3_MAP_QUEUES, 6), 1u << 4 | 1u << 29,
                       user_doorbell << 2, mqds, 0, write_index, 0});
    bench.submit_hiq(0);
    run_bounded(bench);
    divide(bench, controls[1]);
    bench.engines.ring_doorbell(user_doorbell, bytes.size() / gpuemu::aql::packet_dwords);
    run_bounded(bench);
    bench.hiqs[0].put(bytes);
    bench.hiqs[0].put({header(gpuemu::pm4::PACKET3_RUN_LIST, 3), run_list, 0,
                       static_cast<uint32_t>(bytes.size()) | 1u << 23});
    bench.submit_hiq(0);
    run_bounded(bench);
    return 0;
}
