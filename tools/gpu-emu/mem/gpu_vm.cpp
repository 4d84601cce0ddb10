// SPDX-License-Identifier: GPL-2.0
// Purpose: the page-table walk. Entry bits are those of drivers/gpu/drm/amd/amdgpu/amdgpu_vm.h,
// the geometry that of gmc_v9_0.c and gfxhub_v1_2.c: a context has PAGE_TABLE_DEPTH directories
// above the page tables (0: the base address is the page table, as for GART), each directory but
// the root has 512 entries, a page table block spans 2^(9 + PAGE_TABLE_BLOCK_SIZE) pages.
// Thread: device loop only.
#include "gpu-emu/mem/gpu_vm.h"

#include <algorithm>
#include <string>
#include <utility>

#include "lib/log.h"

namespace gpuemu {
namespace {

constexpr uint64_t AMDGPU_PTE_VALID = 1ull << 0;
constexpr uint64_t AMDGPU_PTE_SYSTEM = 1ull << 1;
constexpr uint64_t AMDGPU_PTE_WRITEABLE = 1ull << 6;
constexpr uint64_t AMDGPU_PDE_PTE = 1ull << 54;
constexpr uint64_t AMDGPU_PTE_TF = 1ull << 56;

constexpr unsigned page_shift = Tlb::page_shift;
constexpr uint64_t page_mask = (1ull << page_shift) - 1;
constexpr unsigned directory_bits = 9;
constexpr uint64_t va_mask = (1ull << 48) - 1;
constexpr uint64_t page_address_mask = 0x0000'ffff'ffff'f000;       // of a page
constexpr uint64_t directory_address_mask = 0x0000'ffff'ffff'ffc0;  // of a table

constexpr unsigned max_logged_faults = 20;

unsigned block_fragment_size(uint64_t pde) {
    return (pde >> 59) & 0x1f;
}

std::string describe(const std::optional<VmFault::Entry>& entry) {
    return entry
               ? fmt::format("level {} at {:#x}: {:#x}", entry->level, entry->address, entry->value)
               : "none";
}

}  // namespace

const char* to_string(VmFault::Reason reason) {
    switch (reason) {
        case VmFault::Reason::no_context: return "context disabled";
        case VmFault::Reason::below_start: return "below the start address";
        case VmFault::Reason::not_valid: return "entry not valid";
        case VmFault::Reason::not_writeable: return "page not writeable";
        case VmFault::Reason::no_memory: return "no memory at that address";
    }
    return "unknown";
}

GpuVm::GpuVm(const RegisterFile& registers, const FrameBuffer& frame_buffer,
             const std::vector<VmHubRegisters>& gfx, const std::vector<VmHubRegisters>& mm)
    : registers_(registers), frame_buffer_(frame_buffer) {
    for (const VmHubRegisters& hub : gfx) {
        gfx_.push_back({.registers = hub, .tlb = {}});
    }
    for (const VmHubRegisters& hub : mm) {
        mm_.push_back({.registers = hub, .tlb = {}});
    }
}

std::span<std::byte> GpuVm::window(Hub hub, unsigned vmid, uint64_t va, uint64_t length,
                                   bool write) {
    const Walk walk = translate(place(hub), vmid, va, write);
    if (!walk.ok) {
        return fault({hub, vmid, va, write, walk.reason, walk.entry});
    }
    const auto found = reach(walk.target, length, write);
    if (found.empty() && length != 0) {
        return fault({hub, vmid, va, write, VmFault::Reason::no_memory, walk.entry});
    }
    return found;
}

std::span<std::byte> GpuVm::bus_window(uint64_t address, uint64_t length, bool write) {
    if (host_ == nullptr) {
        return {};
    }
    return host_->dma(address, length, write ? DmaAccess::write : DmaAccess::read);
}

void GpuVm::reset() {
    faults_.clear();
    fault_count_ = 0;
    walks_ = stale_uses_ = 0;
    invalidate_all();
}

void GpuVm::set_tlb_use(Tlb::Use use) {
    tlb_use_ = use;
    invalidate_all();
}

void GpuVm::invalidate_all() {
    for (auto* const hubs : {&gfx_, &mm_}) {
        for (Place& hub : *hubs) {
            hub.tlb.invalidate(Tlb::all_vmids);
        }
    }
}

GpuVm::Walk GpuVm::translate(Place& hub, unsigned vmid, uint64_t va, bool write) {
    if (vmid >= vmids) {
        return {.reason = VmFault::Reason::no_context};
    }
    if (vmid == 0) {  // the frame buffer aperture is in front of the tables of VMID 0 only
        const uint64_t aperture =
            uint64_t{registers_.raw(hub.registers.MC_VM_FB_LOCATION_BASE) & 0xffffff} << 24;
        if (va >= aperture && va - aperture < frame_buffer_.size()) {
            const uint64_t offset = va - aperture;
            return {.target = {false, offset, frame_buffer_.size() - offset}, .ok = true};
        }
    }
    const bool kept = tlb_before_context_ && tlb_use_ != Tlb::Use::off &&
                      hub.tlb.find(vmid, va & va_mask) != nullptr;
    if ((registers_.raw(hub.registers.VM_CONTEXT0_CNTL + vmid) & 1) == 0 && !kept) {
        return {.reason = VmFault::Reason::no_context};
    }
    const Walk walk = look_up(hub, vmid, va & va_mask);
    if (walk.ok && write && !walk.writeable) {
        return {.reason = VmFault::Reason::not_writeable, .entry = walk.entry};
    }
    return walk;
}

Tlb::Translation GpuVm::translation_of_page(const Walk& walk, uint64_t in_page) {
    return {.address = walk.target.address - in_page,
            .length = walk.target.length + in_page,
            .system = walk.target.system,
            .writeable = walk.writeable};
}

/// In the TLB, or else in the tables.
GpuVm::Walk GpuVm::look_up(Place& hub, unsigned vmid, uint64_t va) {
    const uint64_t in_page = va & page_mask;
    if (tlb_use_ != Tlb::Use::off) {
        if (const Tlb::Translation* const kept = hub.tlb.find(vmid, va)) {
            if (tlb_use_ == Tlb::Use::checked) {
                check(hub, vmid, va, *kept);
            }
            return {.target = {kept->system, kept->address + in_page, kept->length - in_page},
                    .ok = true,
                    .writeable = kept->writeable};
        }
    }
    ++walks_;
    const Walk walk = walk_tables(hub.registers, vmid, va);
    if (tlb_use_ != Tlb::Use::off && walk.ok) {
        hub.tlb.keep(vmid, va, translation_of_page(walk, in_page));
    }
    return walk;
}

void GpuVm::check(const Place& hub, unsigned vmid, uint64_t va, const Tlb::Translation& kept) {
    const Walk walk = walk_tables(hub.registers, vmid, va);
    if (walk.ok && translation_of_page(walk, va & page_mask) == kept) {
        return;
    }
    if (++stale_uses_ <= max_logged_faults) {
        hp::log::warning("a translation is used that the page tables do not have any more",
                         {{"vmid", vmid},
                          {"va", fmt::format("{:#x}", va)},
                          {"hub", fmt::format("{:#x}", hub.registers.VM_CONTEXT0_CNTL)}});
    }
}

GpuVm::Walk GpuVm::walk_tables(const VmHubRegisters& hub, unsigned vmid, uint64_t va) {
    const uint32_t control = registers_.raw(hub.VM_CONTEXT0_CNTL + vmid);
    const uint64_t start = registers_.raw64(hub.VM_CONTEXT0_PAGE_TABLE_START_ADDR_LO32 + 2 * vmid)
                           << page_shift;
    if (va < start) {
        return {.reason = VmFault::Reason::below_start};
    }
    const unsigned depth = (control >> 1) & 3;
    const unsigned block_bits = directory_bits + ((control >> 3) & 0xf);
    const uint64_t offset = va - start;
    const uint64_t page = offset >> page_shift;

    uint64_t table = registers_.raw64(hub.VM_CONTEXT0_PAGE_TABLE_BASE_ADDR_LO32 + 2 * vmid);
    std::optional<VmFault::Entry> last;
    const auto step_down = [&](unsigned level, uint64_t index) {
        const auto entry = read_entry(table, level, index);
        if (entry) {
            last = entry;
            table = entry->value;
        }
        return entry.has_value();
    };
    unsigned fragment = 0;
    for (unsigned level = depth; level > 0; --level) {
        const unsigned shift = block_bits + directory_bits * (level - 1);
        uint64_t index = page >> shift;
        if (level != depth) {
            index &= (1u << directory_bits) - 1;
        }
        if (!step_down(level, index)) {
            return {.reason = VmFault::Reason::not_valid, .entry = last};
        }
        if ((table & AMDGPU_PDE_PTE) != 0) {
            return finish(*last, offset, 1ull << (shift + page_shift));
        }
        fragment = block_fragment_size(table);
    }

    const uint64_t in_block = depth == 0 ? page : page & ((1ull << block_bits) - 1);
    bool found = step_down(0, in_block >> fragment);
    if (found && (table & AMDGPU_PTE_TF) != 0 && fragment != 0) {
        // "Translate further": the entry for 2^fragment pages names one more table, of single
        // pages.
        found = step_down(0, page & ((1ull << fragment) - 1));
        fragment = 0;
    }
    if (!found) {
        return {.reason = VmFault::Reason::not_valid, .entry = last};
    }
    return finish(*last, offset, 1ull << (page_shift + fragment));
}

/// The entry maps `span` bytes; `offset` is the address within the context, of which the low bits
/// count.
GpuVm::Walk GpuVm::finish(const VmFault::Entry& entry, uint64_t offset, uint64_t span) {
    if ((entry.value & AMDGPU_PTE_VALID) == 0) {
        return {.reason = VmFault::Reason::not_valid, .entry = entry};
    }
    const uint64_t in_span = offset & (span - 1);
    return {.target = {(entry.value & AMDGPU_PTE_SYSTEM) != 0,
                       (entry.value & page_address_mask) + in_span, span - in_span},
            .ok = true,
            .writeable = (entry.value & AMDGPU_PTE_WRITEABLE) != 0,
            .entry = entry};
}

/// Entry `index` of the table that `directory` (an entry, or the base address register) names.
std::optional<VmFault::Entry> GpuVm::read_entry(uint64_t directory, unsigned level,
                                                uint64_t index) {
    if ((directory & AMDGPU_PTE_VALID) == 0) {
        return std::nullopt;
    }
    const uint64_t address = (directory & directory_address_mask) + index * sizeof(uint64_t);
    const Target target{(directory & AMDGPU_PTE_SYSTEM) != 0, address, sizeof(uint64_t)};
    const auto found = reach(target, sizeof(uint64_t), false);
    if (found.size() < sizeof(uint64_t)) {
        return std::nullopt;
    }
    VmFault::Entry entry{.level = level, .address = address, .value = 0};
    std::memcpy(&entry.value, found.data(), sizeof entry.value);
    return entry;
}

std::span<std::byte> GpuVm::reach(const Target& target, uint64_t length, bool write) {
    length = std::min(length, target.length);
    return target.system ? bus_window(target.address, length, write)
                         : frame_buffer_.window(target.address, length, write);
}

std::span<std::byte> GpuVm::fault(VmFault fault) {
    if (++fault_count_ <= max_logged_faults) {
        hp::log::warning("GPU VM fault", {{"hub", fault.hub.kind == Hub::Kind::gfx ? "gfx" : "mm"},
                                          {"instance", fault.hub.instance},
                                          {"vmid", fault.vmid},
                                          {"va", fmt::format("{:#x}", fault.va)},
                                          {"access", fault.write ? "write" : "read"},
                                          {"reason", to_string(fault.reason)},
                                          {"entry", describe(fault.entry)}});
    }
    if (faults_.size() == remembered_faults) {
        faults_.pop_front();
    }
    faults_.push_back(fault);
    if (fault_handler_) {
        fault_handler_(fault);
    }
    return {};
}

}  // namespace gpuemu
