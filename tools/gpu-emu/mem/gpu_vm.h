// SPDX-License-Identifier: GPL-2.0
// Purpose: GpuMemory of the real thing: the page-table walk of GFX9 (Vega style VML2) in the
// register state of a hub, ending in VRAM, of a hive also in that of a peer, or on the bus.
// Thread: device loop only.
// Does not model: TLBs (every access walks), PRT pages, retry faults, TMZ, the execute permission.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "gpu-emu/device/register_file.h"
#include "gpu-emu/mem/frame_buffer.h"
#include "gpu-emu/mem/gpu_memory.h"
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

    Hub hub;
    unsigned vmid;
    uint64_t va;
    bool write;
    Reason reason;
};

const char* to_string(VmFault::Reason reason);

class GpuVm : public GpuMemory {
public:
    static constexpr unsigned vmids = 16;
    static constexpr std::size_t remembered_faults = 16;

    /// The hubs of each kind, in the order of their instances.
    GpuVm(const RegisterFile& registers, const FrameBuffer& frame_buffer,
          std::vector<VmHubRegisters> gfx, std::vector<VmHubRegisters> mm);

    /// Null while no client is attached: system pages fault then.
    void set_host(PciHost* host) { host_ = host; }
    /// Told of every fault, after it was recorded.
    void on_fault(std::function<void(const VmFault&)> handler) {
        fault_handler_ = std::move(handler);
    }

    std::span<std::byte> window(Hub hub, unsigned vmid, uint64_t va, uint64_t length,
                                bool write) override;
    std::span<std::byte> bus_window(uint64_t address, uint64_t length, bool write) override;

    /// The latest faults, oldest first, and how many there were since the last reset.
    const std::deque<VmFault>& faults() const { return faults_; }
    uint64_t fault_count() const { return fault_count_; }
    void reset();

private:
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
    };

    Walk translate(const VmHubRegisters& hub, unsigned vmid, uint64_t va, bool write);
    Walk walk_tables(const VmHubRegisters& hub, unsigned vmid, uint64_t va, bool write);
    Walk finish(uint64_t entry, uint64_t offset, uint64_t span, bool write) const;
    std::optional<uint64_t> read_entry(uint64_t directory, uint64_t index);
    std::span<std::byte> reach(const Target& target, uint64_t length, bool write);
    std::span<std::byte> fault(VmFault fault);

    const RegisterFile& registers_;
    const FrameBuffer& frame_buffer_;
    std::vector<VmHubRegisters> gfx_;
    std::vector<VmHubRegisters> mm_;
    PciHost* host_ = nullptr;
    std::function<void(const VmFault&)> fault_handler_;
    std::deque<VmFault> faults_;
    uint64_t fault_count_ = 0;
};

}  // namespace gpuemu
