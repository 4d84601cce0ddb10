// SPDX-License-Identifier: GPL-2.0
// Purpose: the XCCs of an MI308X without the rest of the GPU, set up as the driver does it: a KIQ
// for each XCC, an HIQ for each partition. For unit tests and fuzzers. Thread: the test's.
// Does not model: the hubs (all see the memory of PlainMemory).
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu-emu/board/engines.h"
#include "gpu-emu/ip/cp/pm4.h"
#include "gpu-emu/ip/ih.h"
#include "gpu-emu/ip/partitions.h"
#include "gpu-emu/testing/cp_bench.h"

namespace gpuemu::test {

class XccBench {
public:
    static constexpr unsigned xccs = 4;
    static constexpr uint32_t kiq_ring = 0x1000, kiq_stride = 0x400;  // 256 dwords each
    static constexpr uint32_t hiq_ring = 0xa000, hiq_stride = 0x1000;
    static constexpr uint32_t hiq_mqds = 0x5000, mqd_stride = 0x400;
    static constexpr uint32_t hiq_doorbell = 0x400;

    XccBench() { reset(); }

    /// As after power-on, with a KIQ at each XCC.
    void reset() {
        engines.reset();
        registers.clear();
        memory.clear();
        interrupts.entries.clear();
        kicker.kicked.clear();
        ih.reset(ResetKind::cold);
        partitions.reset(ResetKind::cold);
        kiqs.clear();
        hiqs.clear();
        for (unsigned xcc = 0; xcc < xccs; ++xcc) {
            kiqs.emplace_back(memory, kiq_ring + xcc * kiq_stride, 256);
            hiqs.emplace_back(memory, hiq_ring + xcc * hiq_stride, 1024);
            start_kiq(xcc);
        }
    }

    uint32_t dword(unsigned xcc, Reg reg) const { return at(*profile.working(HwId::GC)[xcc], reg); }

    /// amdgpu_gfx_kiq_init_ring().
    static uint32_t kiq_doorbell(unsigned xcc) { return xcc * 0x40; }

    void submit_kiq(unsigned xcc) { engines.ring_doorbell(kiq_doorbell(xcc), kiqs[xcc].wptr()); }

    void set_mqd(uint32_t mqd, uint32_t mqd_dword, uint32_t value) {
        memory.put(mqd + mqd_dword * 4, {value});
    }
    static uint32_t mqd_dword(Reg reg) { return 128 + reg.offset - gc::regCP_MQD_BASE_ADDR.offset; }

    /// hiq_load_mqd_kiq_v9_4_3(): all XCCs of the partition that begins with `first` have one ring.
    void load_hiq(unsigned first, unsigned count) {
        using pm4::header;
        for (unsigned xcc = first; xcc < first + count; ++xcc) {
            const uint32_t mqd = hiq_mqds + xcc * mqd_stride;
            set_mqd(mqd, mqd_dword(gc::regCP_HQD_PQ_BASE), (hiq_ring + first * hiq_stride) >> 8);
            set_mqd(mqd, mqd_dword(gc::regCP_HQD_PQ_CONTROL), 9);
            kiqs[xcc].put({header(pm4::PACKET3_MAP_QUEUES, 6), 1u << 18 | 1u << 26 | 1u << 29,
                           (hiq_doorbell + first) << 2, mqd, 0, 0, 0});
            submit_kiq(xcc);
        }
        run();
        hiqs[first].put({header(pm4::PACKET3_SET_RESOURCES, 7), 0xff00 | 1u << 29, 0xfcfcfcfc,
                         0xfcfcfcfc, 0, 0, 0, 0});
    }
    void submit_hiq(unsigned first) {
        engines.ring_doorbell(hiq_doorbell + first, hiqs[first].wptr());
    }

    /// Until nobody kicks anybody. `held`: an engine that does not get its turns.
    void run(std::string_view held = "") {
        for (int turn = 0; turn < 1000 && !kicker.kicked.empty(); ++turn) {
            for (Engine* const engine : std::exchange(kicker.kicked, {})) {
                if (engine->name() == held) {
                    held_back = engine;
                    continue;
                }
                Budget budget;
                if (engine->run(budget) == Engine::Turn::more) {
                    kicker.kick(*engine);
                }
            }
        }
    }

    const Profile profile = *find_profile("mi308x");
    RegisterFile registers{2u << 20};
    PlainMemory memory;
    RecordingSink interrupts;
    RecordingKicker kicker;
    Mutator mutator;
    Ih ih{{profile, registers, memory, [] {}, [] { return uint64_t{1}; }, mutator}};
    Partitions partitions{profile, registers};
    Engines engines{
        {profile, registers, memory, interrupts, kicker, [] { return uint64_t{1}; }, mutator}};
    std::vector<Ring> kiqs, hiqs;  // by XCC; of the first of a partition
    Engine* held_back = nullptr;

private:
    void start_kiq(unsigned xcc) {
        const auto write = [&](Reg reg, uint32_t value) {
            registers.write(dword(xcc, reg), value);
        };
        write(gc::regGRBM_GFX_CNTL, 2u << 2 | 1);
        write(gc::regCP_HQD_PQ_BASE, (kiq_ring + xcc * kiq_stride) >> 8);
        write(gc::regCP_HQD_PQ_CONTROL, 7);
        write(gc::regCP_HQD_PQ_DOORBELL_CONTROL, 1u << 30 | kiq_doorbell(xcc) << 2);
        write(gc::regCP_HQD_ACTIVE, 1);
        write(gc::regGRBM_GFX_CNTL, 0);
    }
};

}  // namespace gpuemu::test
