// SPDX-License-Identifier: GPL-2.0
// Purpose: surroundings for tests and fuzzers of packet engines: plain memory, recorded interrupts,
// a small profile, and rings to put packets into. Thread: single-threaded tests.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu-emu/device/engine.h"
#include "gpu-emu/device/register_file.h"
#include "gpu-emu/ip/cp/me.h"
#include "gpu-emu/ip/cp/mec.h"
#include "gpu-emu/ip/cp/xcc_group.h"
#include "gpu-emu/ip/interrupt_sink.h"
#include "gpu-emu/ip/queue/context.h"
#include "gpu-emu/ip/queue/port.h"
#include "gpu-emu/ip/regs/gc_9_4_3.h"
#include "gpu-emu/ip/regs/sdma_4_4_2.h"
#include "gpu-emu/ip/sdma/sdma_engine.h"
#include "gpu-emu/ip/sdma/sdma_layout.h"
#include "gpu-emu/mem/gpu_memory.h"
#include "gpu-emu/profiles/profile.h"

namespace gpuemu::test {

namespace gc = gc_9_4_3;

/// Each VMID has its own bytes from address 0; both hubs see the same. Windows end at page
/// boundaries.
class PlainMemory : public GpuMemory {
public:
    static constexpr uint64_t page = 4096;
    static constexpr uint64_t bytes_per_vmid = 64 * 1024;
    static constexpr unsigned vmids = 16;

    std::span<std::byte> window(Hub hub, unsigned vmid, uint64_t va, uint64_t length,
                                bool) override {
        if (vmid >= vmids || va >= bytes_per_vmid || broken_pages_.contains({vmid, va / page})) {
            ++faults;
            return {};
        }
        hubs_used.insert(hub);
        const uint64_t to_page_end = page - va % page;
        return std::span(bytes_).subspan(vmid * bytes_per_vmid + va, std::min(length, to_page_end));
    }
    std::span<std::byte> bus_window(uint64_t, uint64_t, bool) override { return {}; }

    void break_page(unsigned vmid, uint64_t va) { broken_pages_.insert({vmid, va / page}); }
    void mend_page(unsigned vmid, uint64_t va) { broken_pages_.erase({vmid, va / page}); }

    uint32_t at32(uint64_t va, unsigned vmid = 0) {
        return read32(Hub::gfx, vmid, va).value_or(0xdeadbeef);
    }
    uint64_t at64(uint64_t va, unsigned vmid = 0) {
        return read64(Hub::gfx, vmid, va).value_or(0xdeadbeef);
    }
    void put(uint64_t va, std::span<const uint32_t> dwords, unsigned vmid = 0) {
        write_(va, std::as_bytes(dwords), vmid);
    }
    void put(uint64_t va, std::initializer_list<uint32_t> dwords, unsigned vmid = 0) {
        put(va, std::span(dwords.begin(), dwords.size()), vmid);
    }
    void put64(uint64_t va, uint64_t value, unsigned vmid = 0) {
        put(va, {static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)}, vmid);
    }

    void clear() {
        std::memset(bytes_.data(), 0, bytes_.size());  // fuzzers clear it often
        broken_pages_.clear();
        faults = 0;
    }

    const std::vector<std::byte>& bytes() const { return bytes_; }

    std::set<Hub> hubs_used;
    uint64_t faults = 0;

private:
    void write_(uint64_t va, std::span<const std::byte> in, unsigned vmid) {
        std::ranges::copy(in, bytes_.begin() + static_cast<ptrdiff_t>(vmid * bytes_per_vmid + va));
    }

    std::vector<std::byte> bytes_ = std::vector<std::byte>(vmids * bytes_per_vmid);
    std::set<std::pair<unsigned, uint64_t>> broken_pages_;
};

struct RecordingSink : InterruptSink {
    void raise(const InterruptEntry& entry) override { entries.push_back(entry); }
    std::vector<InterruptEntry> entries;
};

struct RecordingKicker : EngineKicker {
    struct ByName {  // not by place, which is another in each run
        bool operator()(const Engine* a, const Engine* b) const {
            return std::string_view(a->name()) < b->name();
        }
    };

    void kick(Engine& engine) override { kicked.insert(&engine); }
    std::set<Engine*, ByName> kicked;
};

/// What an engine is given, to look into. The clock stands still.
struct Surroundings {
    explicit Surroundings(const std::string& name) : Surroundings(*find_profile(name)) {}
    explicit Surroundings(Profile of) : profile(std::move(of)) {}

    const Profile profile;
    RegisterFile registers{2u << 20};
    PlainMemory memory;
    RecordingSink interrupts;
    RecordingKicker kicker;
    Mutator mutator;
    const EngineContext context{
        profile, registers, memory, interrupts, kicker, [] { return uint64_t{1}; }, mutator};
};

inline Profile small_profile() {
    Profile profile;
    profile.name = "test";
    profile.ips = {
        {.hw_id = HwId::GC, .bases = {0x2000, 0xa000}},
        {.hw_id = HwId::MMHUB, .bases = {0x18000}},
        {.hw_id = HwId::ATHUB, .bases = {0xc20}},
        {.hw_id = HwId::OSSSYS, .bases = {0x10a0}},
        {.hw_id = HwId::SDMA0, .instance = 0, .bases = {0x1260}},
        {.hw_id = HwId::SDMA0, .instance = 1, .bases = {0x1860}},
    };
    return profile;
}

/// A ring in memory that remembers how far it was filled.
class Ring {
public:
    Ring(PlainMemory& memory, uint64_t base, uint64_t dwords, unsigned vmid = 0)
        : memory_(memory), base_(base), dwords_(dwords), vmid_(vmid) {}

    Ring& put(std::span<const uint32_t> packet) {
        for (const uint32_t dword : packet) {
            memory_.put(base_ + wptr_++ % dwords_ * 4, {dword}, vmid_);
        }
        return *this;
    }
    Ring& put(std::initializer_list<uint32_t> packet) {
        return put(std::span(packet.begin(), packet.size()));
    }

    uint64_t base() const { return base_; }
    uint64_t dwords() const { return dwords_; }
    uint64_t wptr() const { return wptr_; }

private:
    PlainMemory& memory_;
    uint64_t base_;
    uint64_t dwords_;
    unsigned vmid_;
    uint64_t wptr_ = 0;
};

/// The engines without the rest of the GPU. VMID 0: KIQ ring at 0x1000, its read pointer report at
/// 0x800.
class Bench {
public:
    static constexpr uint64_t kiq_ring = 0x1000;
    static constexpr uint64_t kiq_dwords = 1024;
    static constexpr uint64_t kiq_rptr_report = 0x800;
    static constexpr uint32_t kiq_doorbell = 0;

    enum class Rings { compute, graphics_too };

    explicit Bench(Rings rings = Rings::compute)
        : profile(small_profile()),
          registers(512u << 10),
          context{profile, registers, memory, interrupts, kicker, [this] { return clock; },
                  mutator},
          sdma0(context, 0, sdma_layouts(profile).at(0)),
          sdma1(context, 1, sdma_layouts(profile).at(1)),
          me(context),
          mec(context, xccs, rings == Rings::graphics_too ? &me : nullptr,
              std::array<SdmaEngine*, 2>{&sdma0, &sdma1}),
          kiq(memory, kiq_ring, kiq_dwords) {}

    /// As after power-on; rings made of this memory are void.
    void reset() {
        mec.reset();
        me.reset();
        sdma0.reset();
        sdma1.reset();
        registers.clear();
        memory.clear();
        interrupts.entries.clear();
    }

    uint32_t dword(Reg reg) const { return at(profile.ip(HwId::GC), reg); }

    void select(unsigned me, unsigned pipe, unsigned queue) {
        registers.write(dword(gc::regGRBM_GFX_CNTL), me << 2 | pipe | queue << 8);
    }

    /// As gfx_v9_4_3_xcc_kiq_init_register() does it.
    void start_kiq() {
        select(2, 1, 0);
        registers.write(dword(gc::regCP_HQD_PQ_BASE), kiq_ring >> 8);
        registers.write(dword(gc::regCP_HQD_PQ_CONTROL), 9);  // 2^10 dwords
        registers.write(dword(gc::regCP_HQD_PQ_RPTR_REPORT_ADDR), kiq_rptr_report);
        registers.write(dword(gc::regCP_HQD_PQ_DOORBELL_CONTROL), 1u << 30 | kiq_doorbell << 2);
        registers.write(dword(gc::regCP_HQD_ACTIVE), 1);
        select(0, 0, 0);
    }

    /// A v9_mqd for a ring, as the driver fills it. Doorbell and VMID come from whoever maps it.
    void write_mqd(uint64_t mqd, const Ring& ring, uint64_t rptr_report, bool aql = false) {
        const auto set = [&](Reg reg, uint32_t value) {
            memory.put(mqd + (128 + reg.offset - gc::regCP_MQD_BASE_ADDR.offset) * 4, {value});
        };
        uint32_t size = 0;
        while (uint64_t{2} << size < ring.dwords()) {
            ++size;
        }
        set(gc::regCP_HQD_PQ_BASE, static_cast<uint32_t>(ring.base() >> 8));
        set(gc::regCP_HQD_PQ_CONTROL, size);
        set(gc::regCP_HQD_PQ_RPTR_REPORT_ADDR, static_cast<uint32_t>(rptr_report));
        set(gc::regCP_HQD_AQL_CONTROL, aql);
    }
    uint32_t mqd_register(uint64_t mqd, Reg reg) {
        return memory.at32(mqd + (128 + reg.offset - gc::regCP_MQD_BASE_ADDR.offset) * 4);
    }

    void submit_kiq() { mec.ring_doorbell(kiq_doorbell, kiq.wptr()); }

    /// Turns until the engine has no more to do or waits.
    template <typename AnyEngine>
    Engine::Turn run(AnyEngine& engine, Budget budget = {}) {
        for (int turn = 0; turn < 1'000'000; ++turn) {
            Budget left = budget;
            if (const Engine::Turn result = engine.run(left); result != Engine::Turn::more) {
                return result;
            }
        }
        return Engine::Turn::more;
    }
    Engine::Turn run_kiq(Budget budget = {}) {
        submit_kiq();
        return run(mec, budget);
    }

    Profile profile;
    RegisterFile registers;
    PlainMemory memory;
    RecordingSink interrupts;
    RecordingKicker kicker;
    uint64_t clock = 1000;
    Mutator mutator;
    EngineContext context;
    XccGroup xccs{registers, kicker};
    SdmaEngine sdma0;
    SdmaEngine sdma1;
    Me me;
    Mec mec;
    Ring kiq;
};

}  // namespace gpuemu::test
