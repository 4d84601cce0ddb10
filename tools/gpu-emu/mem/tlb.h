// SPDX-License-Identifier: GPL-2.0
// Purpose: the translations that a hub keeps (UTCL2 and the L1 of its clients, as one): until they
// are invalidated they are used, whatever the page tables say by then. Only valid entries are kept:
// from GFX9 on one that is not valid enters no TLB (amdgpu_vm_update_range()).
// Thread: device loop only.
// Does not model: page directories that are kept apart (each miss walks from the root), fragments
// (each page has an entry of its own), which of several pages has to go as the hardware chooses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuemu {

class Tlb {
public:
    static constexpr unsigned vmids = 16;
    static constexpr uint16_t all_vmids = 0xffff;
    static constexpr unsigned page_shift = 12;
    static constexpr std::size_t entries = 4096;

    /// What is behind the first byte of a page.
    struct Translation {
        uint64_t address = 0;
        uint64_t length = 0;  // bytes that lie behind it in one piece
        bool system = false;
        bool writeable = false;

        bool operator==(const Translation&) const = default;
    };

    enum class Use {
        off,      // nothing is kept
        on,       // what is kept is used
        checked,  // and each time the tables are asked, too, whether they say the same
    };

    /// Null: not here. Valid until the next call. `vmid` is one of vmids.
    const Translation* find(unsigned vmid, uint64_t va) const;
    void keep(unsigned vmid, uint64_t va, const Translation& translation);
    /// Of the VMIDs whose bits are set.
    void invalidate(uint16_t of_vmids);

private:
    struct Entry {
        uint64_t page = 0;
        uint64_t generation = 0;  // of its VMID; 0: none
        unsigned vmid = 0;
        Translation translation;
    };

    static std::size_t place(unsigned vmid, uint64_t page);

    std::vector<Entry> table_ = std::vector<Entry>(entries);
    std::vector<uint64_t> generations_ = std::vector<uint64_t>(vmids, 1);
};

}  // namespace gpuemu
