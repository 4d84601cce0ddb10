// SPDX-License-Identifier: GPL-2.0
// Purpose: GpuMemory of the real thing: the page-table walk of GFX9 (Vega style VML2) in the
// register state of a hub, ending in VRAM, of a hive also in that of a peer, or on the bus.
// Thread: device loop only.
// Does not model: PRT pages, retry faults, TMZ, the execute permission.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "gpu-emu/device/register_file.h"
#include "gpu-emu/mem/frame_buffer.h"
#include "gpu-emu/mem/gpu_memory.h"
#include "gpu-emu/mem/tlb.h"
#include "gpu-emu/pci/pci_function.h"

namespace gpuemu {

/// Where a hub keeps what the walk needs; dword addresses. Contexts follow each other: the control
/// registers one dword apart, the base and start addresses two.
struct VmHubRegisters {
    uint32_t MC_VM_FB_LOCATION_BASE;
    uint32_t VM_CONTEXT0_CNTL;
    uint32_t VM_CONTEXT0_PAGE_TABLE_BASE_ADDR_LO32;
    uint32_t VM_CONTEXT0_PAGE_TABLE_START_ADDR_LO32;
};

struct VmFault {
    enum class Reason { no_context, below_start, not_valid, not_writeable, no_memory };
    /// Of a directory, or at level 0 of a page table.
    struct Entry {
        unsigned level;
        uint64_t address;
        uint64_t value;
    };

    Hub hub;
    unsigned vmid;
    uint64_t va;
    bool write;
    Reason reason;
    std::optional<Entry> entry{};  // the last one that the walk has read
};

const char* to_string(VmFault::Reason reason);

class GpuVm : public GpuMemory {
public:
    static constexpr unsigned vmids = Tlb::vmids;
    static constexpr std::size_t remembered_faults = 16;

    /// The hubs of each kind, in the order of their instances.
    GpuVm(const RegisterFile& registers, const FrameBuffer& frame_buffer,
          const std::vector<VmHubRegisters>& gfx, const std::vector<VmHubRegisters>& mm);

    /// Null while no client is attached: system pages fault then.
    void set_host(PciHost* host) { host_ = host; }
    /// Told of every fault, after it was recorded.
    void on_fault(std::function<void(const VmFault&)> handler) {
        fault_handler_ = std::move(handler);
    }

    /// A context that is disabled faults whatever the TLB has of it (assumed).
    std::span<std::byte> window(Hub hub, unsigned vmid, uint64_t va, uint64_t length,
                                bool write) override;
    std::span<std::byte> bus_window(uint64_t address, uint64_t length, bool write) override;

    /// What the hub keeps. Translations of the past are used until they are invalidated there.
    Tlb& tlb(Hub hub) { return place(hub).tlb; }
    void set_tlb_use(Tlb::Use use);
    /// What is kept is used although its context is disabled.
    void set_tlb_before_context(bool before) { tlb_before_context_ = before; }
    void invalidate_all();
    /// Walks of page tables since the last reset: accesses that no TLB had the translation of.
    uint64_t walks() const { return walks_; }
    /// Uses since the last reset of a translation that the tables do not have any more; counted in
    /// Tlb::Use::checked only. An invalidation is missing, or was on its way.
    uint64_t stale_uses() const { return stale_uses_; }

    /// The latest faults, oldest first, and how many there were since the last reset.
    const std::deque<VmFault>& faults() const { return faults_; }
    uint64_t fault_count() const { return fault_count_; }
    void reset();

private:
    struct Place {
        VmHubRegisters registers;
        Tlb tlb;
    };
    struct Target {
        bool system;
        uint64_t address;
        uint64_t length;  // bytes that lie behind `address` in one piece
    };
    /// A translation, or why there is none.
    struct Walk {
        Target target{};
        VmFault::Reason reason{};
        bool ok = false;
        bool writeable = true;
        std::optional<VmFault::Entry> entry{};
    };

    Place& place(Hub hub) { return (hub.kind == Hub::Kind::gfx ? gfx_ : mm_).at(hub.instance); }
    static Tlb::Translation translation_of_page(const Walk& walk, uint64_t in_page);
    Walk translate(Place& hub, unsigned vmid, uint64_t va, bool write);
    Walk look_up(Place& hub, unsigned vmid, uint64_t va);
    void check(const Place& hub, unsigned vmid, uint64_t va, const Tlb::Translation& kept);
    Walk walk_tables(const VmHubRegisters& hub, unsigned vmid, uint64_t va);
    static Walk finish(const VmFault::Entry& entry, uint64_t offset, uint64_t span);
    std::optional<VmFault::Entry> read_entry(uint64_t directory, unsigned level, uint64_t index);
    std::span<std::byte> reach(const Target& target, uint64_t length, bool write);
    std::span<std::byte> fault(VmFault fault);

    const RegisterFile& registers_;
    const FrameBuffer& frame_buffer_;
    std::vector<Place> gfx_;
    std::vector<Place> mm_;
    Tlb::Use tlb_use_ = Tlb::Use::on;
    bool tlb_before_context_ = false;
    uint64_t walks_ = 0;
    uint64_t stale_uses_ = 0;
    PciHost* host_ = nullptr;
    std::function<void(const VmFault&)> fault_handler_;
    std::deque<VmFault> faults_;
    uint64_t fault_count_ = 0;
};

}  // namespace gpuemu
