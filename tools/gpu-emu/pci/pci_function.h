// SPDX-License-Identifier: GPL-2.0
// Purpose: the seam between a device model and whatever carries it (vfio-user today). A model
// implements PciFunction and is handed a PciHost; neither side knows more of the other than this
// file. Thread: every call is made on the device loop; nothing here may block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gpuemu {

/// Regions of a PCI function, numbered as VFIO_PCI_*_REGION_INDEX (linux/vfio.h).
enum class Region : uint32_t {
    bar0 = 0,
    bar1,
    bar2,
    bar3,
    bar4,
    bar5,
    rom,
    config,
    vga,
};
inline constexpr uint32_t region_count = 9;

struct RegionInfo {
    uint64_t size = 0;  // bytes; 0: not there
    bool writable = true;
    int mmap_fd = -1;  // a memfd that the client may map whole, or -1: every access is trapped.
                       // Owned by the function.
};

enum class DmaAccess { read, write };

/// What a function may do to its host. Valid while a client is attached; afterwards every call
/// finds nothing.
class PciHost {
public:
    virtual ~PciHost() = default;

    /// Host window onto bus address `iova`, at most `length` bytes, shorter where a DMA map ends,
    /// empty where none is or where the map does not allow `access`. Valid until the loop handles
    /// the next message; never keep it.
    virtual std::span<std::byte> dma(uint64_t iova, uint64_t length, DmaAccess access) = 0;

    /// Signals MSI `vector` (0 based) if the guest enabled it; lost otherwise, as on the wire.
    /// False when nobody received it.
    virtual bool raise_msi(unsigned vector) = 0;
};

/// A PCI function. Offsets and lengths are as the client sent them: any value, checked here, never
/// trusted.
class PciFunction {
public:
    virtual ~PciFunction() = default;

    virtual RegionInfo region_info(Region region) const = 0;
    virtual unsigned msi_vectors() const = 0;

    /// Fills `out` completely, whatever the offset. What is not there reads as the hardware would:
    /// all ones.
    virtual void read(Region region, uint64_t offset, std::span<std::byte> out) = 0;
    virtual void write(Region region, uint64_t offset, std::span<const std::byte> in) = 0;

    /// A client came (cold power-on: all state as after reset) or went. `host` outlives the
    /// attachment.
    virtual void attach(PciHost& host) = 0;
    virtual void detach() = 0;

    /// Hot reset of the link asked for by the client (VFIO_USER_DEVICE_RESET): QEMU sends it for a
    /// secondary bus reset.
    virtual void reset() = 0;

    /// The host has put it into D3hot (PCI Power Management 1.2, PMCSR).
    virtual bool asleep() const = 0;
};

}  // namespace gpuemu
