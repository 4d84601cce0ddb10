// SPDX-License-Identifier: GPL-2.0
// Purpose: a table in which each page of a VMID has one place. What is invalidated is of an older
// generation.
// Thread: device loop only.
#include "gpu-emu/mem/tlb.h"

namespace gpuemu {

std::size_t Tlb::place(unsigned vmid, uint64_t page) {
    // Neighbours have places of their own, and so have the first pages of several VMIDs.
    constexpr uint64_t apart = 0x9e3779b97f4a7c15;
    return (page + vmid * apart) % entries;
}

const Tlb::Translation* Tlb::find(unsigned vmid, uint64_t va) const {
    const uint64_t page = va >> page_shift;
    const Entry& entry = table_[place(vmid, page)];
    const bool here =
        entry.page == page && entry.vmid == vmid && entry.generation == generations_[vmid];
    return here ? &entry.translation : nullptr;
}

void Tlb::keep(unsigned vmid, uint64_t va, const Translation& translation) {
    const uint64_t page = va >> page_shift;
    table_[place(vmid, page)] = {
        .page = page, .generation = generations_[vmid], .vmid = vmid, .translation = translation};
}

void Tlb::invalidate(uint16_t of_vmids) {
    for (unsigned vmid = 0; vmid < vmids; ++vmid) {
        if ((of_vmids >> vmid & 1) != 0) {
            ++generations_[vmid];
        }
    }
}

}  // namespace gpuemu
