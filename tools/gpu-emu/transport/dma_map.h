// SPDX-License-Identifier: GPL-2.0
// Purpose: the client's memory as the device may reach it: bus addresses to mappings of the files
// the client sent. Thread: device loop only. Does not model: memory the client keeps to itself (a
// map without a file is known, and never reached).
//
// Only files that cannot be shortened are taken, that is, memfds with F_SEAL_SHRINK, as QEMU's
// memory-backend-memfd makes them: a client that could take pages away from under an engine would
// end this process with SIGBUS. The alternatives are a signal handler that repairs mappings in the
// middle of an access, or copies by pread(2), with which neither atomic accesses nor a wait for a
// value that the guest writes are possible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu-emu/pci/pci_function.h"
#include "gpu-emu/transport/vfio_user_protocol.h"

namespace gpuemu {

class DmaMap {
public:
    DmaMap() = default;
    ~DmaMap() { clear(); }
    DmaMap(const DmaMap&) = delete;
    DmaMap& operator=(const DmaMap&) = delete;

    /// `fd` is only looked at; -1 for a map without a file. Returns 0 or the errno for the reply:
    /// ENOSPC beyond max_dma_maps, and beyond max_mapped_bytes of all files together.
    int map(const vfio_user::DmaMapRequest& request, int fd);

    /// Removes all maps that lie in the range, none is fine, too: QEMU ends all that an IOMMU may
    /// have mapped by ranges. One that lies only partly in it is an error and nothing is removed.
    int unmap(const vfio_user::DmaUnmap& request);

    void clear();

    /// See PciHost::dma().
    std::span<std::byte> window(uint64_t address, uint64_t length, DmaAccess access);

    size_t count() const { return maps_.size(); }

private:
    struct Map {
        uint64_t address;
        uint64_t size;
        std::byte* memory;  // null: no file came with it
        bool readable;
        bool writable;
    };

    void release(const Map& map);
    std::vector<Map>::iterator first_at_or_after(uint64_t address);
    const Map* find(uint64_t address);

    std::vector<Map> maps_;        // by address, disjoint
    uint64_t mapped_bytes_ = 0;    // of files
    size_t last_hit_ = 0;          // an engine mostly stays where it was
    bool refusal_logged_ = false;  // once for a client: it may ask as often as it likes
};

}  // namespace gpuemu
